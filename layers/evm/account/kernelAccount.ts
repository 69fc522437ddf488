/**
 * The Kernel 0.3.1 account of an owner: its address follows from owner, index and what it is made with, so it is known
 * before any chain has it and is the same on all of them. Source: ERC-4337 factories, Kernel's factory (CREATE2).
 */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  keccak256,
  pad,
  stringToHex,
  toHex,
  zeroAddress
} from "viem"
import { KernelFactoryStakerAbi } from "@zerodev/sdk"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import {
  erc1271OwnerValidator,
  kernelAbi,
  kernelFactory,
  kernelInitCodeHash,
  metaFactory,
  ownerValidator,
  withdrawalExecutor
} from "#layers/evm/contracts.ts"

/** What an account is made with; its address follows from all of it. */
export type AccountMaker = Pick<
  Authorization,
  "accountType" | "ownerAccountId" | "accountIndex" | "withdrawalDomainName"
>

const rootValidators = { ECDSA: ownerValidator, ERC1271: erc1271OwnerValidator } as const

const executorModule = 2n

/**
 * Call of the account to itself by which it is born with the withdrawal executor: no hook, and the executor's own data,
 * `owner ++ keccak256 of the domain name`. Source: Kernel 0.3.1, `installModule` of type 2.
 */
const installExecutor = (owner: Address, domainName: string): Hex =>
  encodeFunctionData({
    abi: kernelAbi,
    functionName: "installModule",
    args: [
      executorModule,
      withdrawalExecutor,
      concatHex([
        zeroAddress,
        encodeAbiParameters(
          [{ type: "bytes" }, { type: "bytes" }],
          [concatHex([owner, keccak256(stringToHex(domainName))]), "0x"]
        )
      ])
    ]
  })

/** Calldata of `initialize`: the owner as root (type "validator" and the module's address), no hook, the executor. */
const initializeData = ({ accountType, ownerAccountId, withdrawalDomainName }: AccountMaker): Hex => {
  const owner = toViem(addressOf(ownerAccountId))
  const initConfig = withdrawalDomainName === null ? [] : [installExecutor(owner, withdrawalDomainName)]
  return encodeFunctionData({
    abi: kernelAbi,
    functionName: "initialize",
    args: [concatHex(["0x01", rootValidators[accountType]]), zeroAddress, owner, "0x", initConfig]
  })
}

const salt = (accountIndex: bigint) => toHex(accountIndex, { size: 32 })

/** The account's address. `accountIndex` fits into 256 bits. */
export const accountAddress = (maker: AccountMaker): EvmAddress =>
  fromViem(
    getCreate2Address({
      from: kernelFactory,
      salt: keccak256(concatHex([initializeData(maker), salt(maker.accountIndex)])),
      bytecodeHash: kernelInitCodeHash
    })
  )

/** What deploys the account: a user operation includes it before its first call; any account may call it. */
export const accountDeployment = (maker: AccountMaker): { factory: Address; factoryData: Hex } => ({
  factory: metaFactory,
  factoryData: encodeFunctionData({
    abi: KernelFactoryStakerAbi,
    functionName: "deployWithFactory",
    args: [kernelFactory, initializeData(maker), salt(maker.accountIndex)]
  }).toLowerCase() as Hex
})

/** A permission's four bytes as Kernel's validation id: type "permission", padded to 21 bytes. */
export const permissionValidation = (permissionId: Hex): Hex =>
  pad(concatHex(["0x02", permissionId]), { size: 21, dir: "right" })

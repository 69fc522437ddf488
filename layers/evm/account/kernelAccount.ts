/**
 * The Kernel 0.3.1 account of an owner: its address follows from owner and index alone, so it is known before any chain
 * has it and is the same on all of them. Source: ERC-4337 factories, Kernel's factory (CREATE2).
 */
import {
  type Address,
  concatHex,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  keccak256,
  pad,
  toHex,
  zeroAddress
} from "viem"
import { KernelFactoryStakerAbi } from "@zerodev/sdk"
import type { EvmAddress } from "#domain/Caip.ts"
import { fromViem } from "#layers/evm/address.ts"
import { kernelAbi, kernelFactory, kernelInitCodeHash, metaFactory, ownerValidator } from "#layers/evm/contracts.ts"

/** Kernel's name of the root validator: type "validator" and its address. */
const rootValidation = concatHex(["0x01", ownerValidator])

/** Calldata of `initialize`: the owner as root, no hook, no further configuration. */
const initializeData = (owner: Address): Hex =>
  encodeFunctionData({
    abi: kernelAbi,
    functionName: "initialize",
    args: [rootValidation, zeroAddress, owner, "0x", []]
  })

const salt = (accountIndex: bigint) => toHex(accountIndex, { size: 32 })

/** The account's address. `accountIndex` fits into 256 bits. */
export const accountAddress = (owner: Address, accountIndex: bigint): EvmAddress =>
  fromViem(
    getCreate2Address({
      from: kernelFactory,
      salt: keccak256(concatHex([initializeData(owner), salt(accountIndex)])),
      bytecodeHash: kernelInitCodeHash
    })
  )

/** What a user operation carries to deploy the account before its first call. */
export const accountDeployment = (owner: Address, accountIndex: bigint): { factory: Address; factoryData: Hex } => ({
  factory: metaFactory,
  factoryData: encodeFunctionData({
    abi: KernelFactoryStakerAbi,
    functionName: "deployWithFactory",
    args: [kernelFactory, initializeData(owner), salt(accountIndex)]
  })
})

/** A permission's four bytes as Kernel's validation id: type "permission", padded to 21 bytes. */
export const permissionValidation = (permissionId: Hex): Hex =>
  pad(concatHex(["0x02", permissionId]), { size: 21, dir: "right" })

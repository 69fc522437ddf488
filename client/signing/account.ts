/** The account's address and its `Enable` message, computed from their parts. */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getCreate2Address,
  hashTypedData,
  type Hex,
  keccak256,
  pad,
  stringToHex,
  toFunctionSelector,
  toHex,
  zeroAddress
} from "viem"
import {
  kernelAbi,
  kernelFactory,
  kernelInitCodeHash,
  kernelVersion,
  rootValidators,
  withdrawalExecutor
} from "#client/signing/contracts.ts"

export interface AccountParts {
  readonly accountType: keyof typeof rootValidators
  readonly owner: Address
  readonly accountIndex: bigint
  readonly withdrawalDomainName: string | null
}

const executorModule = 2n

const installExecutor = (owner: Address, domainName: string): Hex => {
  const data = concatHex([owner, keccak256(stringToHex(domainName))])
  const withHook = encodeAbiParameters([{ type: "bytes" }, { type: "bytes" }], [data, "0x"])
  return encodeFunctionData({
    abi: kernelAbi,
    functionName: "installModule",
    args: [executorModule, withdrawalExecutor, concatHex([zeroAddress, withHook])]
  })
}

/** Computes an account's address, which is equal on every chain and follows from its owner alone. */
export const accountAddress = ({ accountIndex, accountType, owner, withdrawalDomainName }: AccountParts): Address => {
  const setUp = withdrawalDomainName === null ? [] : [installExecutor(owner, withdrawalDomainName)]
  const birth = encodeFunctionData({
    abi: kernelAbi,
    functionName: "initialize",
    args: [concatHex(["0x01", rootValidators[accountType]]), zeroAddress, owner, "0x", setUp]
  })
  return getCreate2Address({
    from: kernelFactory,
    salt: keccak256(concatHex([birth, toHex(accountIndex, { size: 32 })])),
    bytecodeHash: kernelInitCodeHash
  })
}

const enableTypes = {
  Enable: [
    { name: "validationId", type: "bytes21" },
    { name: "nonce", type: "uint32" },
    { name: "hook", type: "address" },
    { name: "validatorData", type: "bytes" },
    { name: "hookData", type: "bytes" },
    { name: "selectorData", type: "bytes" }
  ]
} as const

/** The permission may enter the account by `execute` alone, as the account itself implements it. */
const executeOnly = concatHex([
  toFunctionSelector("execute(bytes32,bytes)"),
  zeroAddress,
  zeroAddress,
  encodeAbiParameters([{ type: "bytes" }, { type: "bytes" }], ["0xff", "0x0000"])
])

export const enableDigest = (options: {
  readonly chainId: number
  readonly account: Address
  readonly permissionId: Hex
  readonly nonce: number
  readonly permission: Hex
}): Hex =>
  hashTypedData({
    domain: { name: "Kernel", version: kernelVersion, chainId: options.chainId, verifyingContract: options.account },
    types: enableTypes,
    primaryType: "Enable",
    message: {
      validationId: pad(concatHex(["0x02", options.permissionId]), { size: 21, dir: "right" }),
      nonce: options.nonce,
      hook: zeroAddress,
      validatorData: options.permission,
      hookData: "0x",
      selectorData: executeOnly
    }
  })

/**
 * Contracts that the adapter calls, at the addresses that are the same on every chain.
 * Sources: ERC-4337 (EntryPoint 0.7), Multicall3, ZeroDev's table of deployments for Kernel 0.3.1.
 */
import { constants } from "@zerodev/sdk"
import { type Address, parseAbi } from "viem"

export { entryPoint07Abi as entryPointAbi, entryPoint07Address as entryPoint } from "viem/account-abstraction"
export { KernelV3_1AccountAbi as kernelAbi } from "@zerodev/sdk"

/** Version string in the EIP-712 domain of Kernel accounts. */
export const kernelVersion = "0.3.1"

const deployments = constants.KernelVersionToAddressesMap[kernelVersion]

/** Factory that deploys accounts by CREATE2, and the hash of the account's creation code. */
export const kernelFactory: Address = deployments.factoryAddress
export const kernelInitCodeHash = deployments.initCodeHash!

/** The factory that user operations name; it forwards to `kernelFactory`. */
export const metaFactory: Address = deployments.metaFactoryAddress!

/** Root validator: the owner's ECDSA signature, over one digest or over the Merkle root of many. */
export const ownerValidator: Address = "0x5C97aA67Ba578E3c54ec5942A7563Ea9130E4f5F"

export const multicall3: Address = "0xcA11bde05977b3631167028862bE2a173976CA11"

export const multicall3Abi = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
  "function getBlockNumber() view returns (uint256)",
  "function getCurrentBlockTimestamp() view returns (uint256)"
])

export const routerAbi = parseAbi([
  "function factory() view returns (address)",
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
  "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)"
])

export const pairFactoryAbi = parseAbi(["function getPair(address tokenA, address tokenB) view returns (address)"])

export const pairAbi = parseAbi([
  "function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)"
])

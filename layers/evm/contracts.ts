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

/**
 * Root validator of owners that are contracts: they rule on the signature (ERC-1271).
 * contracts/Erc1271OwnerValidator.sol
 */
export const erc1271OwnerValidator: Address = "0x7c7D3Cf094Fdea0356ED6a447E4c848c43f11575"

/**
 * Executor that every account is created with: it moves tokens by the owner's signature alone. The address follows
 * from the code of contracts/WithdrawalExecutor.sol (CREATE2 with salt zero, no constructor arguments), and is part of
 * what an account's own address follows from.
 */
export const withdrawalExecutor: Address = "0x2542A8f47FD2Bb82584f224f63279ED187D62619"

export const withdrawalExecutorAbi = parseAbi([
  "struct Asset { address token; uint256 amount; }",
  "struct Authorization { string portfolioId; address recipient; Asset[] assets; bytes32 nonce; uint256 expiresAt; }",
  "function ownerOf(address account) view returns (address owner)",
  "function nameHashOf(address account) view returns (bytes32 nameHash)",
  "function isUsed(address account, bytes32 nonce) view returns (bool used)",
  "function isInitialized(address account) view returns (bool)",
  "function digestOf(address account, Authorization authorization, bool liquidate) view returns (bytes32)",
  "function withdraw(address account, Authorization authorization, bytes signature)",
  "function settle(Authorization authorization, bytes signature, address settlementToken, uint256 keep)",
  "event Withdrawn(address indexed account, bytes32 indexed nonce, bytes32 digest)",
  "error AlreadyInstalled(address account)",
  "error NotInstalled(address account)",
  "error InvalidInstallData(uint256 length)",
  "error InvalidOwner(address owner)",
  "error InvalidRecipient(address recipient)",
  "error NoAssets()",
  "error Expired(uint256 expiresAt, uint256 blockTimestamp)",
  "error NonceUsed(bytes32 nonce)",
  "error NotSignedByOwner(address owner, bytes32 digest)",
  "error TransferFailed(address token)",
  "error NothingToSettle(address token, uint256 balance, uint256 keep)"
])

export const multicall3: Address = "0xcA11bde05977b3631167028862bE2a173976CA11"

export const multicall3Abi = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
  "function getBlockNumber() view returns (uint256)",
  "function getEthBalance(address holder) view returns (uint256)",
  "function getCurrentBlockTimestamp() view returns (uint256)"
])

export const routerAbi = parseAbi([
  "function factory() view returns (address)",
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
  "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)"
])

/**
 * Across's SpokePool: takes tokens on this chain, and a relayer pays the recipient exactly `outputAmount` of another
 * one on the destination, or the depositor gets them back. A call policy can pin every word, of the message its length.
 */
export const spokePoolAbi = parseAbi([
  "function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable",
  "error InvalidQuoteTimestamp()",
  "error InvalidFillDeadline()"
])

/** contracts/RoutedSwap.sol: the terms are static, so that a call policy can pin each by its offset. */
export const routedSwapAbi = parseAbi([
  "struct Terms { address sell; uint256 amount; address buy; uint256 minOut; address hub; uint256 deadline; }",
  "function TARGET() view returns (address)",
  "function ROUTER() view returns (address)",
  "function swap(Terms terms, bytes route) returns (uint256 bought)",
  "event Swapped(address indexed account, address indexed sell, address indexed buy, uint256 sold, uint256 bought)",
  "error Reentered()",
  "error Expired(uint256 deadline, uint256 blockTimestamp)",
  "error SameToken(address token)",
  "error NoVenuePrice(address sell, address buy)",
  "error FeeOnTransfer(address token)",
  "error TooLittle(uint256 bought, uint256 floor)"
])

/** Keccak-256 of RoutedSwap's code with zeros in place of its two addresses, which differ from chain to chain. */
export const routedSwapCodeHash = "0xf491f527d638f431c7a003e8f150e7cf705b5598ae1c35abbf23707b8dd457a2"

export const pairFactoryAbi = parseAbi(["function getPair(address tokenA, address tokenB) view returns (address)"])

export const pairAbi = parseAbi([
  "function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)"
])

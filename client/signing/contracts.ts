/**
 * Addresses and encodings of the accounts, written a second time from their standards, so that a mistake or a lie of
 * the service shows as a difference. Sources: Kernel 0.3.1 and its modules, contracts/.
 */
import { parseAbi } from "viem"

export const kernelVersion = "0.3.1"
export const kernelFactory = "0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"
export const kernelInitCodeHash = "0x85d96aa1c9a65886d094915d76ccae85f14027a02c1647dde659f869460f03e6"
export const withdrawalExecutor = "0x2542A8f47FD2Bb82584f224f63279ED187D62619"
export const rootValidators = {
  ECDSA: "0x5C97aA67Ba578E3c54ec5942A7563Ea9130E4f5F",
  ERC1271: "0x7c7D3Cf094Fdea0356ED6a447E4c848c43f11575"
} as const
export const ecdsaSigner = "0x6A6F069E2a08c2468e7724Ab3250CdBFBA14D4FF"
export const callPolicyContract = "0x9a52283276A0ec8740DF50bF01B28A80D880eaf2"

/** Flags before a policy and before a signer: asked in every validation; never for signatures of the account. */
export const forAllValidation = "0x0000"
export const notForSignatures = "0x0002"

export const entryPoint = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"

export const kernelAbi = parseAbi([
  "function execute(bytes32 mode, bytes executionCalldata) payable",
  "function initialize(bytes21 rootValidator, address hook, bytes validatorData, bytes hookData, bytes[] initConfig)",
  "function installModule(uint256 moduleType, address module, bytes initData)"
])

export const selectors = {
  approve: "function approve(address spender, uint256 amount)",
  deposit:
    "function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message)",
  settle:
    "function settle((string portfolioId, address recipient, (address token, uint256 amount)[] assets, bytes32 nonce, uint256 expiresAt) authorization, bytes signature, address settlementToken, uint256 keep)",
  swapOneHop:
    "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)",
  swapOverRoute:
    "function swap((address sell, uint256 amount, address buy, uint256 minOut, address hub, uint256 deadline) terms, bytes route)",
  swapTwoHops:
    "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)"
} as const

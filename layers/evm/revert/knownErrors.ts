/**
 * Custom errors of contracts that operations meet: ours, the account's, and those that tokens and venues are made of.
 * Sources: ERC-6093, OpenZeppelin Contracts, Solady, Permit2, Uniswap (v3 periphery, Universal Router, v4 core), LI.FI.
 */
import { parseAbi } from "viem"
import { entryPointAbi, kernelAbi, routedSwapAbi, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { settlementRuleAbi, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

/** What Solidity reverts with by itself. */
const language = parseAbi(["error Error(string reason)", "error Panic(uint256 code)"])

/** Errors of our contracts that their other callers meet. */
const administration = parseAbi([
  "error OnlyGuard(address caller)",
  "error OnlyAdministrator(address caller)",
  "error OnlyGuardian(address caller)",
  "error NotTighter(uint256 tradeBps, uint256 budgetBps)",
  "error NotScheduled(bytes32 change)",
  "error NotNow(uint256 from, uint256 until)",
  "error InvalidEntry(address subject)"
])

const tokens = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InvalidSender(address sender)",
  "error ERC20InvalidReceiver(address receiver)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC20InvalidApprover(address approver)",
  "error ERC20InvalidSpender(address spender)",
  "error SafeERC20FailedOperation(address token)",
  "error SafeERC20FailedDecreaseAllowance(address spender, uint256 currentAllowance, uint256 requestedDecrease)",
  "error AddressEmptyCode(address target)",
  "error AddressInsufficientBalance(address account)",
  "error FailedInnerCall()",
  "error FailedCall()",
  "error EnforcedPause()",
  "error ExpectedPause()",
  "error OwnableUnauthorizedAccount(address account)",
  "error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)",
  "error ReentrancyGuardReentrantCall()",
  "error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)",
  "error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)",
  "error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)",
  "error InsufficientBalance()",
  "error InsufficientAllowance()",
  "error TransferFailed()",
  "error TransferFromFailed()",
  "error ApproveFailed()",
  "error ETHTransferFailed()",
  "error Reentrancy()",
  "error Unauthorized()"
])

const venues = parseAbi([
  "error AllowanceExpired(uint256 deadline)",
  "error InsufficientAllowance(uint256 amount)",
  "error ExcessiveInvalidation()",
  "error SignatureExpired(uint256 signatureDeadline)",
  "error InvalidContractSignature()",
  "error InvalidSigner()",
  "error V2TooLittleReceived()",
  "error V2TooMuchRequested()",
  "error V2InvalidPath()",
  "error V3TooLittleReceived()",
  "error V3TooMuchRequested()",
  "error V3InvalidSwap()",
  "error V3InvalidAmountOut()",
  "error V3InvalidCaller()",
  "error V4TooLittleReceived(uint256 minAmountOutReceived, uint256 amountReceived)",
  "error V4TooMuchRequested(uint256 maxAmountInRequested, uint256 amountRequested)",
  "error ExecutionFailed(uint256 commandIndex, bytes message)",
  "error TransactionDeadlinePassed()",
  "error DeadlinePassed(uint256 deadline)",
  "error InsufficientToken()",
  "error InsufficientETH()",
  "error LengthMismatch()",
  "error InvalidCommandType(uint256 commandType)",
  "error PoolNotInitialized()",
  "error CurrencyNotSettled()",
  "error NotEnoughLiquidity(bytes32 poolId)",
  "error SwapAmountCannotBeZero()",
  "error PriceLimitAlreadyExceeded(uint160 sqrtPriceCurrentX96, uint160 sqrtPriceLimitX96)",
  "error PriceLimitOutOfBounds(uint160 sqrtPriceLimitX96)",
  "error CumulativeSlippageTooHigh(uint256 minAmount, uint256 receivedAmount)",
  "error InsufficientBalance(uint256 required, uint256 balance)",
  "error ContractCallNotAllowed()",
  "error NativeAssetTransferFailed()",
  "error NoSwapDataProvided()",
  "error NoSwapFromZeroBalance()",
  "error InvalidReceiver()",
  "error InvalidAmount()",
  "error SwapFailed()"
])

export const knownErrors = [
  ...language,
  ...entryPointAbi,
  ...kernelAbi,
  ...withdrawalExecutorAbi,
  ...routedSwapAbi,
  ...tradeGuardAbi,
  ...settlementRuleAbi,
  ...administration,
  ...tokens,
  ...venues
]

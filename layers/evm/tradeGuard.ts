/** contracts/TradeGuard.sol as the service uses it. Source: docs/contracts.md. */
import { getContractAddress, parseAbi } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"

export const tradeGuardAbi = parseAbi([
  "struct SignedPrice { uint128 price; uint40 time; bytes signature; }",
  "struct Trade { address venue; uint8 sell; uint8 buy; uint128 amount; uint128 minOut; bytes route; }",
  "struct Transfer { address bridge; uint8 token; uint128 amount; uint256 chainId; address remoteToken; uint128 minOut; }",
  "struct Evidence { SignedPrice[] prices; bytes32[][] proofs; }",
  "struct Account { bytes4 permissionId; uint40 issuedAt; uint40 validUntil; uint16 tradeBps; uint16 budgetBps; uint32 lost; uint32 attested; uint40 chargedAt; bool isClosed; }",
  "function RUNNER() view returns (address)",
  "function administrator() view returns (address)",
  "function guardian() view returns (address)",
  "function attestor() view returns (address)",
  "function tokens(address token) view returns (address feed, uint32 maxAge, uint16 maxStepBps, uint8 decimals, uint8 priceDecimals, bool isListed)",
  "function anchors(address token) view returns (uint128 price, uint40 time)",
  "function state() view returns (address sequencer, uint64 version, bool isPaused, bool isSealed)",
  "function closedRoot(address account) view returns (bytes32)",
  "function tighten(uint16 tradeBps, uint16 budgetBps)",
  "function trade(address[] listed, Trade[] trades, Evidence evidence, uint256 deadline)",
  "function send(address[] listed, Transfer transfer, Evidence evidence, uint256 deadline)",
  "function policyOf(address owner) view returns (Account account, uint256 tradeBps, uint256 budgetBps, uint256 lossLeft, uint256 attestedLeft)",
  "function revoke(address account, uint40 issuedBefore, bytes signature)",
  "function revocationDigest(address account, uint40 issuedBefore) view returns (bytes32)",
  "event Traded(address indexed account, address indexed sell, address indexed buy, address venue, uint256 sold, uint256 bought)",
  "event Sent(address indexed account, address indexed token, address bridge, uint256 chainId, uint256 amount, uint256 minOut)",
  "error Reentered()",
  "error Expired(uint256 deadline, uint256 blockTimestamp)",
  "error NotSealed()",
  "error VenueNotListed(address venue)",
  "error LaneNotListed(address token, uint256 chainId, address remoteToken)",
  "error TokensNotAscending(address token)",
  "error SameToken(address token)",
  "error NothingSold(address token)",
  "error NothingToLose()",
  "error NotOnClosedList(address token)",
  "error TookTooMuch(address token, uint256 taken, uint256 amount)",
  "error TooLittle(uint256 bought, uint256 minOut)",
  "error UnfairTrade(uint256 soldValue, uint256 boughtValue, uint256 maxLossBps)",
  "error BudgetExceeded(uint256 wanted, uint256 left)",
  "error AttestedBudgetExceeded(uint256 wanted, uint256 left)",
  "error Paused()",
  "error SequencerDown(int256 answer, uint256 since)",
  "error TokenNotListed(address token)",
  "error InvalidPrice(address token, int256 answer)",
  "error StalePrice(address token, uint256 time)",
  "error PriceMissing(address token)",
  "error NotAttested(address token)",
  "error StepTooLarge(address token, uint256 price, uint256 anchor)",
  "error PermissionNotLive(bytes4 permissionId)",
  "error CallNotAllowed(address target, bytes4 selector)",
  "error FeesNotAllowed()",
  "error NotTheLatest(uint256 issuedAt, uint256 latest)",
  "error InvalidPermission(uint256 issuedAt, uint256 validUntil)"
])

/** contracts/SettlementRule.sol: what it refuses a liquidating withdrawal for. */
export const settlementRuleAbi = parseAbi([
  "error NotForPayout(address token)",
  "error WrongKeep(uint256 keep, uint256 most)"
])

/**
 * Keccak-256 of the guard's code with zeros in place of the addresses of the executor, its runner and its settlement
 * rule.
 */
export const tradeGuardCodeHash = "0x81c5af8d623c4525a9f00f67faf307c067388da9b0b945d8e824848a1d593cca"

/** The contract that calls venues for a guard, which makes it first of all: routes deliver to it. Source: CREATE. */
export const runnerOf = (guard: EvmAddress): EvmAddress =>
  fromViem(getContractAddress({ from: toViem(guard), nonce: 1n }))

/** The contract that rules on what liquidating withdrawals pay, which the guard makes second. */
export const settlementRuleOf = (guard: EvmAddress): EvmAddress =>
  fromViem(getContractAddress({ from: toViem(guard), nonce: 2n }))

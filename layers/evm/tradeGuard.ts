/** contracts/TradeGuard.sol, with its registry, as the service uses it. Source: docs/contracts.md. */
import { getContractAddress, parseAbi } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"

export const tradeGuardAbi = parseAbi([
  "struct SignedPrice { uint128 price; uint40 time; bytes signature; }",
  "struct Trade { address venue; uint8 sell; uint8 buy; uint128 amount; uint128 minOut; bytes route; }",
  "struct Transfer { address bridge; uint8 token; uint128 amount; uint256 chainId; bytes32 remoteToken; uint128 minOut; }",
  "struct Evidence { SignedPrice[] prices; bytes32[][] proofs; }",
  "struct Asset { address token; uint256 amount; }",
  "struct Payout { Asset[] assets; address token; uint256 keep; }",
  "struct Account { bytes4 permissionId; uint40 issuedAt; uint40 validUntil; uint16 tradeBps; uint16 budgetBps; uint32 lost; uint32 turnover; uint40 chargedAt; uint8 signed; }",
  "function RUNNER() view returns (address)",
  "function administrator() view returns (address)",
  "function guardian() view returns (address)",
  "function attestor() view returns (address)",
  "struct Token { address feed; uint24 maxAge; uint16 maxStepBps; uint8 bandBps; uint8 decimals; uint8 priceDecimals; uint8 phase; bool isBounded; bool isComposed; uint8 listing; }",
  "struct Anchor { uint104 price; uint104 next; uint40 time; }",
  "struct State { address sequencer; uint64 version; bool isPaused; bool isSealed; }",
  "function tokens(address token) view returns (Token)",
  "function anchors(address token) view returns (Anchor)",
  "function state() view returns (State)",
  "function closedRoot(address account) view returns (bytes32)",
  "function tighten(uint16 tradeBps, uint16 budgetBps)",
  "function setFees(uint8 integratorBps, uint8 serviceBps)",
  "function trade(address[] listed, Trade[] trades, Evidence evidence, uint256 deadline)",
  "function liquidate(Payout payout, address[] listed, Trade[] trades, Evidence evidence, uint256 deadline)",
  "function send(address[] listed, Transfer transfer, Evidence evidence, uint256 deadline)",
  "function policyOf(address owner) view returns (Account account, uint256 tradeBps, uint256 budgetBps, uint256 lossLeft, uint256 turnoverLeft)",
  "function revoke(address account, address owner, uint40 issuedBefore, bytes signature)",
  "function revocationDigest(address account, uint40 issuedBefore) view returns (bytes32)",
  "event Traded(address indexed account, address indexed sell, address indexed buy, address venue, uint256 sold, uint256 bought)",
  "event Sent(address indexed account, address indexed token, address bridge, uint256 chainId, bytes32 recipient, uint256 amount, uint256 minOut)",
  "event FeeTaken(address indexed account, address indexed token, address indexed recipient, uint256 amount)",
  "error Reentered()",
  "error Expired(uint256 deadline, uint256 blockTimestamp)",
  "error NotSealed()",
  "error VenueNotListed(address venue)",
  "error VenueLimit(address venue, uint256 soldValue, uint256 mostUsd)",
  "error BridgeNotListed(address bridge, address token, uint256 chainId, bytes32 remoteToken)",
  "error RecipientNotSigned(uint256 chainId)",
  "error MoreThanSent(uint256 minOut, uint256 amount)",
  "error FeeNotSigned(uint256 integratorBps, uint256 serviceBps)",
  "error TokensNotAscending(address token)",
  "error SameToken(address token)",
  "error NothingSold(address token)",
  "error NothingToLose()",
  "error NotOnClosedList(address token)",
  "error TookTooMuch(address token, uint256 taken, uint256 amount)",
  "error TooLittle(uint256 bought, uint256 minOut)",
  "error UnfairTrade(uint256 soldValue, uint256 boughtValue, uint256 maxLossBps)",
  "error BudgetExceeded(uint256 wanted, uint256 left)",
  "error TurnoverExceeded(uint256 wanted, uint256 left)",
  "error Paused()",
  "error SequencerDown(int256 answer, uint256 since)",
  "error TokenNotListed(address token)",
  "error InvalidPrice(address token, int256 answer)",
  "error StalePrice(address token, uint256 time)",
  "error PriceMissing(address token)",
  "error NotAttested(address token)",
  "error AggregatorChanged(address token, address feed)",
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
  "error NotAsSigned(address token, uint256 amount, uint256 signed)",
  "error WrongKeep(uint256 keep, uint256 most)",
  "error AnotherPayout()"
])

/** Bits of `signed`: what an owner signed beside time and limits. Source: contracts/LossBudget.sol. */
export const signedBits = { closedList: 1, integratorFee: 2, serviceFee: 4, recipients: 8 } as const

/** Keccak-256 of the guard's code with zeros in place of the addresses of the executor and of what the guard made. */
export const tradeGuardCodeHash = "0xb7e899183161b6064c6d01b8d81b3ced7a2a1b172f2f87237c940cc8d3dffcec"

/** The contract that calls venues for a guard, which makes it first of all: routes deliver to it. Source: CREATE. */
export const runnerOf = (guard: EvmAddress): EvmAddress =>
  fromViem(getContractAddress({ from: toViem(guard), nonce: 1n }))

/** The contract that rules on what liquidating withdrawals pay, which the guard makes second. */
export const settlementRuleOf = (guard: EvmAddress): EvmAddress =>
  fromViem(getContractAddress({ from: toViem(guard), nonce: 2n }))

/** The contract that changes the registry of a guard, which makes it third. */
export const registryChangesOf = (guard: EvmAddress): EvmAddress =>
  fromViem(getContractAddress({ from: toViem(guard), nonce: 3n }))

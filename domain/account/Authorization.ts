/**
 * What an owner authorizes at enrollment: on each chain, one smart account and one permission of the agent key, limited
 * on chain to swaps between listed assets through one venue or for no less than it pays, back into the same account, to
 * sending one token to the same account on another listed chain, and to ending a withdrawal that the owner signed.
 *
 * Stage 1 fixes it, the owner signs its digest, and every later user operation is built from it, so it is stored whole:
 * a changed deployment configuration never changes what was signed. Rules read it through `Permission.ts`.
 * Source: interface "enroll/signature", EIP-712,
 * ERC-4337, ERC-7579.
 */
import { Schema } from "effect"
import { AccountId, ChainId, EvmAddress, type Namespace, WalletId } from "#domain/values/Caip.ts"

const hex = (pattern: string, expected: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^0x${pattern}$`, "u"), { expected }))

/** 32 bytes in lower-case hex. */
export const Bytes32 = hex("[0-9a-f]{64}", "32 bytes in lower-case hex with 0x")

/** Any bytes in lower-case hex. */
export const HexBytes = hex("(?:[0-9a-f]{2})*", "bytes in lower-case hex with 0x")

/** Four bytes that name the permission on chain; never used twice for one account. On Solana the role's number. */
export const PermissionId = hex("[0-9a-f]{8}", "4 bytes in lower-case hex with 0x").pipe(Schema.brand("PermissionId"))
export type PermissionId = typeof PermissionId.Type

/** What the agent may send to other chains, always to the same account there. */
export const BridgePolicy = Schema.Struct({
  /** The contract that takes the amount; beside the router the only spender that the agent may approve. */
  contract: EvmAddress,
  /** The one token that may leave. */
  token: EvmAddress,
  /** Where to, and as which token. */
  destinations: Schema.NonEmptyArray(Schema.Struct({ chainId: ChainId, token: EvmAddress }))
})
export type BridgePolicy = typeof BridgePolicy.Type

/** A share of what a trade buys, which the guard pays to the recipient within the trade. */
const SignedFee = Schema.Struct({
  recipient: EvmAddress,
  /** Most that it may be, in basis points: 1 to 100, with the other fee together at most 100. */
  mostBps: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))
})

/** The guard through which all trades and transfers go, and what the owner signs of it. Source: docs/contracts.md. */
export const TradeGuardPolicy = Schema.Struct({
  contract: EvmAddress,
  /** UNIX seconds; a permission replaces only one that was issued earlier. */
  issuedAt: Schema.Int,
  /** Last UNIX second at which the permission holds. */
  validUntil: Schema.Int,
  /** Most that one trade, and all trades of a week, may lose against reference prices; zero for the guard's default. */
  tradeBps: Schema.Int,
  budgetBps: Schema.Int,
  /** The only tokens that the agent may buy; the owner signs their Merkle root. Left out: those of the registry. */
  closedTokens: Schema.optionalKey(Schema.NonEmptyArray(EvmAddress)),
  /** Left out: none is taken. */
  integratorFee: Schema.optionalKey(SignedFee),
  serviceFee: Schema.optionalKey(SignedFee),
  /** Who receives what is sent to a chain of the guard's registry; left out: the account at the same address. */
  recipients: Schema.optionalKey(Schema.NonEmptyArray(Schema.Struct({ chainId: ChainId, account: Bytes32 })))
})
export type TradeGuardPolicy = typeof TradeGuardPolicy.Type

/** What the agent may call on one chain. */
export const AgentPolicy = Schema.Struct({
  _tag: Schema.tag("Evm"),
  /** The Uniswap v2 router; the only spender that the agent may approve. */
  router: EvmAddress,
  /** Connector tokens: those through which a swap of two hops may pass. */
  connectorTokens: Schema.Array(EvmAddress),
  /** Tokens that a swap may end in. */
  tokens: Schema.Array(EvmAddress),
  /**
   * The contract that swaps over a provider's routes, never for less than the venue pays: into the same tokens, priced
   * over the same connector tokens. Left out: the venue makes every swap.
   */
  routedSwap: Schema.optionalKey(EvmAddress),
  /** Left out: nothing may leave the chain. */
  bridge: Schema.optionalKey(BridgePolicy),
  /** Everything goes through it, and the rules above are the service's own; left out: the call policy enforces them. */
  guard: Schema.optionalKey(TradeGuardPolicy)
})
export type AgentPolicy = typeof AgentPolicy.Type

/**
 * The agent's role in the owner's wallet on Solana. The chain limits it to the portfolio's sub-account, which is the
 * account of the authorization, and to nothing else there: what is bought and where to it goes is kept by the service.
 */
const SolanaRole = Schema.TaggedStruct("Solana", {
  /** Id of 32 bytes from which the wallet's addresses follow. */
  walletId: Bytes32,
  /** Role of the agent: 1 or more; role 0 is the owner's. */
  roleId: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 0xff_ff_ff_ff }))
})
export type SolanaRole = typeof SolanaRole.Type

export const ChainAuthorization = Schema.Struct({
  chainId: ChainId,
  accountId: AccountId,
  permissionId: PermissionId,
  policy: Schema.Union([AgentPolicy, SolanaRole]),
  /** The account's nonce in the `Enable` message; left out of what was issued before this was kept. */
  enableNonce: Schema.optionalKey(Schema.Int),
  /** Keccak-256 of the permission's data in the `Enable` message: what the policy is on chain. */
  permissionHash: Schema.optionalKey(Bytes32),
  /** EIP-712 digest of the account's `Enable` message; on Solana SHA-256 of what the owner signs. */
  digest: Bytes32
})
export type ChainAuthorization = typeof ChainAuthorization.Type

/** How the owner signs: with a key, or as a contract that rules on signatures (ERC-1271). */
export const AccountType = Schema.Literals(["ECDSA", "ERC1271"])
export type AccountType = typeof AccountType.Type

export const Authorization = Schema.Struct({
  /** The family of its chains, whose adapter alone reads the policies. */
  _tag: Schema.Literals(["Evm", "Solana"]),
  accountType: AccountType,
  ownerAccountId: WalletId,
  /** Salt of the account's address; the same on every chain. */
  accountIndex: Schema.BigIntFromString,
  /**
   * Name of the EIP-712 domain in which the owner signs withdrawals; part of what the account is made with, hence of
   * its address. Null: an account from before withdrawals, which has no executor for them.
   */
  withdrawalDomainName: Schema.NullOr(Schema.String),
  agentAccountId: WalletId,
  chains: Schema.NonEmptyArray(ChainAuthorization),
  /** Merkle root over the chains' digests, of one chain its digest: the 32 bytes that the owner signs. */
  root: Bytes32
})
export type Authorization = typeof Authorization.Type

const namespaces: Readonly<Record<Authorization["_tag"], Namespace>> = { Evm: "eip155", Solana: "solana" }

/** The family of an authorization's chains. */
export const familyOf = ({ _tag }: Pick<Authorization, "_tag">): Namespace => namespaces[_tag]

/** What is asked of a Solana chain, and what it answers. */
import type { PublicKey } from "@solana/web3.js"
import type { Effect, Option } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Read } from "#layers/solana/rpc/batchedReads.ts"

/**
 * The commitment that what is read must have. A `confirmed` block has the votes of two thirds; a `finalized` one never
 * goes away.
 */
export type Commitment = "confirmed" | "finalized"

export interface Account {
  /** The program that owns it. */
  readonly owner: PublicKey
  readonly lamports: bigint
  readonly data: Uint8Array
}

export interface OwnedAccount extends Account {
  readonly key: PublicKey
}

export interface LatestBlockhash {
  readonly blockhash: string
  /** The last height of a block that may include a transaction with it. */
  readonly lastValidBlockHeight: bigint
}

/** What became of a transaction. `error` is null where it took effect, else the program's error, such as
 * `{"InstructionError":[0,{"Custom":38}]}`. */
export interface SignatureStatus {
  readonly slot: bigint
  readonly error: unknown
  readonly commitment: "processed" | Commitment
}

export interface Simulated {
  readonly error: unknown
  readonly logs: ReadonlyArray<string>
  /** Compute units that it used. */
  readonly units: number
}

/** Tokens in one of a transaction's accounts. */
export interface TokenBalance {
  readonly mint: string
  readonly owner: string | undefined
  readonly raw: bigint
}

/** What accounts held at one side of a transaction. */
export interface Balances {
  /** Lamports by the index of the account. */
  readonly lamports: ReadonlyArray<bigint>
  readonly tokens: ReadonlyArray<TokenBalance>
}

/** A transaction in a block. */
export interface IncludedTransaction {
  readonly slot: bigint
  /** The wire bytes with all signatures. */
  readonly bytes: Uint8Array
  /** Those that lookup tables named, in the order in which they follow the message's own. */
  readonly loaded: ReadonlyArray<string>
  readonly before: Balances
  readonly after: Balances
}

export interface ListedSignature {
  readonly signature: string
  readonly slot: bigint
  readonly error: unknown
}

export interface Requests {
  readonly latestBlockhash: Effect.Effect<LatestBlockhash, ChainUnavailable>
  /** How far the chain is. Heights count blocks, slots also those that were skipped. */
  readonly position: (
    commitment: Commitment | "processed"
  ) => Effect.Effect<{ readonly slot: bigint; readonly height: bigint }, ChainUnavailable>
  /**
   * Accounts at one slot, not before `atLeastSlot`; none where there is no account. More than 100 are read in several
   * requests, and the slot is then the earliest.
   */
  readonly accounts: (
    keys: ReadonlyArray<PublicKey>,
    atLeastSlot?: bigint
  ) => Effect.Effect<Read<Option.Option<Account>>, ChainUnavailable>
  /** The token accounts that one token program keeps for an owner. */
  readonly tokenAccounts: (
    owner: PublicKey,
    tokenProgram: PublicKey,
    atLeastSlot?: bigint
  ) => Effect.Effect<Read<OwnedAccount>, ChainUnavailable>
  /** What became of transactions, by their signatures in base58; the whole history is searched. None: not seen. */
  readonly statuses: (
    signatures: ReadonlyArray<string>
  ) => Effect.Effect<Read<Option.Option<SignatureStatus>>, ChainUnavailable>
  /**
   * Transactions in finalized blocks that name an address, newest first, as a node shows them that has reached
   * `atLeastSlot`. At most 1,000, those before one of them where it is given.
   */
  readonly signatures: (
    address: PublicKey,
    atLeastSlot: bigint,
    before?: string
  ) => Effect.Effect<ReadonlyArray<ListedSignature>, ChainUnavailable>
  /** A transaction in a finalized block. */
  readonly transaction: (signature: string) => Effect.Effect<Option.Option<IncludedTransaction>, ChainUnavailable>
  /** What the transaction would do on the latest confirmed state, under a fresh blockhash and without signatures. */
  readonly simulate: (transaction: Uint8Array) => Effect.Effect<Simulated, ChainUnavailable>
  /**
   * Hands the bytes to every endpoint, unchecked and without the node's own repeats; fails when none accepts them. Only
   * `statuses` shows what became of them.
   */
  readonly send: (transaction: Uint8Array) => Effect.Effect<void, ChainUnavailable>
  /**
   * Minimum prices of a compute unit, in millionths of a lamport, by which recent blocks took writes to these
   * accounts.
   */
  readonly recentFees: (writable: ReadonlyArray<PublicKey>) => Effect.Effect<ReadonlyArray<bigint>, ChainUnavailable>
  /** The oldest slot of which transactions are known: what was before it shows in no history. */
  readonly firstSlot: Effect.Effect<bigint, ChainUnavailable>
  /** Lamports that an account of so many bytes must keep. */
  readonly minimumRent: (bytes: number) => Effect.Effect<bigint, ChainUnavailable>
}

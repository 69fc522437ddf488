/** What is asked of a Solana chain, and what it answers. */
import type { PublicKey } from "@solana/web3.js"
import type { Effect, Option } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Read } from "#layers/solana/rpc/gathered.ts"

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
  /** What the transaction would do on the latest confirmed state, under a fresh blockhash and without signatures. */
  readonly simulate: (transaction: Uint8Array) => Effect.Effect<Simulated, ChainUnavailable>
  /**
   * Hands the bytes to every endpoint, unchecked and without the node's own repeats; fails when none accepts them. Only
   * `statuses` shows what became of them.
   */
  readonly send: (transaction: Uint8Array) => Effect.Effect<void, ChainUnavailable>
  /**
   * Least prices of a compute unit, in millionths of a lamport, by which recent blocks took writes to these
   * accounts.
   */
  readonly recentFees: (writable: ReadonlyArray<PublicKey>) => Effect.Effect<ReadonlyArray<bigint>, ChainUnavailable>
  /** Lamports that an account of so many bytes must keep. */
  readonly minimumRent: (bytes: number) => Effect.Effect<bigint, ChainUnavailable>
}

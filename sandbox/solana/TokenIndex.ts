/** Which token accounts an owner has, kept by what transactions have named: reading all of them takes long. */
import { address } from "@solana/kit"
import type { TransactionInstruction } from "@solana/web3.js"
import type { LiteSVM } from "litesvm"
import { tokenPrograms } from "#layers/solana/token/programs.ts"
import type { LedgerAccount } from "#sandbox/solana/LedgerAccount.ts"
import { isTokenAccount, keyAt } from "#sandbox/solana/LedgerAccount.ts"

const ownerAt = 32

/** Keys of what both token programs keep. */
const keptIn = (svm: LiteSVM): ReadonlyArray<string> =>
  tokenPrograms.flatMap((program) =>
    svm.getProgramAccounts(address(program.toBase58())).map((account) => account.address as string)
  )

export class TokenIndex {
  readonly #ownerOf = new Map<string, string>()
  readonly #ofOwner = new Map<string, Set<string>>()
  readonly #named: Set<string>

  /** Begins with what the chain has. */
  constructor(svm: LiteSVM) {
    this.#named = new Set(keptIn(svm))
  }

  /** Accounts that may have changed. */
  note(keys: Iterable<string>): void {
    for (const key of keys) this.#named.add(key)
  }

  /** Accounts that instructions name. */
  noteAll(instructions: ReadonlyArray<TransactionInstruction>): void {
    for (const { keys } of instructions) this.note(keys.map(({ pubkey }) => pubkey.toBase58()))
  }

  /** Accounts of an owner, as `read` shows them now. */
  of(owner: string, read: (key: string) => LedgerAccount | undefined): ReadonlyArray<LedgerAccount> {
    for (const key of this.#named) this.#place(key, read(key))
    this.#named.clear()
    return [...(this.#ofOwner.get(owner) ?? [])].flatMap((key) => read(key) ?? [])
  }

  #place(key: string, account: LedgerAccount | undefined): void {
    const before = this.#ownerOf.get(key)
    const owner =
      account !== undefined && isTokenAccount(account.data) ? keyAt(account.data, ownerAt).toBase58() : undefined
    if (before === owner) return
    if (before !== undefined) this.#ofOwner.get(before)!.delete(key)
    if (owner === undefined) {
      this.#ownerOf.delete(key)
      return
    }
    this.#ownerOf.set(key, owner)
    const others = this.#ofOwner.get(owner) ?? new Set()
    this.#ofOwner.set(owner, others.add(key))
  }
}

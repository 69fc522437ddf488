/** What a simulated chain stores of accounts: balances, nonces of operations, withdrawals that were carried out. */
import type { AssetId } from "#domain/values/Caip.ts"

export interface Delta {
  readonly account: string
  readonly assetId: AssetId
  readonly raw: bigint
}

/** A call of a transaction that the chain refuses: everything of the operation is undone. */
export class Reverted extends Error {}

const key = (account: string, assetId: string) => `${account} ${assetId}`

export class Accounts {
  readonly #balances = new Map<string, bigint>()
  readonly nonces = new Map<string, number>()
  /** Transactions by account and nonce of the authorization. */
  readonly withdrawn = new Map<string, string>()

  balance(account: string, assetId: string): bigint {
    return this.#balances.get(key(account, assetId)) ?? 0n
  }

  /** A balance never gets below zero. */
  change({ account, assetId, raw }: Delta): void {
    const next = this.balance(account, assetId) + raw
    if (next < 0n) throw new Reverted(`balance of ${assetId} is too low`)
    this.#balances.set(key(account, assetId), next)
  }

  /** Takes changes back, the last one first; on the way a balance may be below zero. */
  undo(deltas: ReadonlyArray<Delta>): void {
    for (const { account, assetId, raw } of deltas)
      this.#balances.set(key(account, assetId), this.balance(account, assetId) - raw)
  }

  get all(): ReadonlyMap<string, bigint> {
    return this.#balances
  }
}

export const withdrawalKey = (account: string, nonce: string): string => `${account} ${nonce}`

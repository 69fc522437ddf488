/**
 * What waits to be mined on a chain, by relayer account and nonce. Transactions that share a nonce compete; the chain
 * takes them in the order of the nonces. Some wait for long, some are forgotten and must be sent again.
 */
import type { Payload } from "#test/simulation/world/Payload.ts"

export interface PoolTransaction {
  readonly txHash: string
  readonly relayer: string
  readonly nonce: number
  readonly fee: number
  /** Empty for one of somebody else that only uses the nonce up. */
  readonly payloads: ReadonlyArray<Payload>
}

interface Candidate {
  readonly transaction: PoolTransaction
  /** Not mined before. */
  eligibleAt: number
}

export class Mempool {
  readonly #candidates = new Map<string, Array<Candidate>>()
  readonly #used = new Map<string, number>()

  /** The nonce that the chain waits for. */
  used(relayer: string): number {
    return this.#used.get(relayer) ?? 0
  }

  setUsed(relayer: string, nonce: number): void {
    this.#used.set(relayer, nonce)
  }

  /** The next nonce with what waits counted in. */
  pending(relayer: string): number {
    let nonce = this.used(relayer)
    while ((this.#candidates.get(`${relayer} ${nonce}`)?.length ?? 0) > 0) nonce += 1
    return nonce
  }

  holds({ relayer, nonce, txHash }: PoolTransaction): boolean {
    return (this.#candidates.get(`${relayer} ${nonce}`) ?? []).some(({ transaction }) => transaction.txHash === txHash)
  }

  add(transaction: PoolTransaction, eligibleAt: number): void {
    const key = `${transaction.relayer} ${transaction.nonce}`
    const candidates = this.#candidates.get(key) ?? []
    candidates.push({ transaction, eligibleAt })
    this.#candidates.set(key, candidates)
  }

  forget({ relayer, nonce, txHash }: PoolTransaction): void {
    const key = `${relayer} ${nonce}`
    const left = (this.#candidates.get(key) ?? []).filter(({ transaction }) => transaction.txHash !== txHash)
    this.#candidates.set(key, left)
  }

  /** Everything may be mined at once. */
  release(at: number): void {
    for (const candidates of this.#candidates.values())
      for (const candidate of candidates) candidate.eligibleAt = Math.min(candidate.eligibleAt, at)
  }

  /** Those that may be mined now with the nonce that the chain waits for. */
  eligible(relayer: string, at: number): ReadonlyArray<PoolTransaction> {
    return (this.#candidates.get(`${relayer} ${this.used(relayer)}`) ?? []).flatMap(({ eligibleAt, transaction }) =>
      eligibleAt <= at ? [transaction] : []
    )
  }

  /** What waits, as anybody sees it. */
  get payloads(): ReadonlyArray<Payload> {
    return [...this.#candidates.values()].flat().flatMap(({ transaction }) => transaction.payloads)
  }

  get relayers(): ReadonlyArray<string> {
    return [...new Set([...this.#candidates.keys()].map((key) => key.split(" ")[0]!))]
  }
}

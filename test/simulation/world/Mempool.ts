/**
 * What waits to be mined on a chain, by relayer account and nonce. Transactions that share a nonce compete; the chain
 * takes them in the order of the nonces. Some wait for long, some are forgotten and must be sent again.
 */
import type { Payload } from "#test/simulation/world/Payload.ts"

export interface PoolTransaction {
  readonly txHash: string
  readonly lane: string
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
  used(lane: string): number {
    return this.#used.get(lane) ?? 0
  }

  setUsed(lane: string, nonce: number): void {
    this.#used.set(lane, nonce)
  }

  /** The next nonce with what waits counted in. */
  pending(lane: string): number {
    let nonce = this.used(lane)
    while ((this.#candidates.get(`${lane} ${nonce}`)?.length ?? 0) > 0) nonce += 1
    return nonce
  }

  holds({ lane, nonce, txHash }: PoolTransaction): boolean {
    return (this.#candidates.get(`${lane} ${nonce}`) ?? []).some(({ transaction }) => transaction.txHash === txHash)
  }

  add(transaction: PoolTransaction, eligibleAt: number): void {
    const key = `${transaction.lane} ${transaction.nonce}`
    const candidates = this.#candidates.get(key) ?? []
    candidates.push({ transaction, eligibleAt })
    this.#candidates.set(key, candidates)
  }

  forget({ lane, nonce, txHash }: PoolTransaction): void {
    const key = `${lane} ${nonce}`
    const left = (this.#candidates.get(key) ?? []).filter(({ transaction }) => transaction.txHash !== txHash)
    this.#candidates.set(key, left)
  }

  /** Everything may be mined at once. */
  release(at: number): void {
    for (const candidates of this.#candidates.values())
      for (const candidate of candidates) candidate.eligibleAt = Math.min(candidate.eligibleAt, at)
  }

  /** Those that may be mined now with the nonce that the chain waits for. */
  eligible(lane: string, at: number): ReadonlyArray<PoolTransaction> {
    return (this.#candidates.get(`${lane} ${this.used(lane)}`) ?? []).flatMap(({ eligibleAt, transaction }) =>
      eligibleAt <= at ? [transaction] : []
    )
  }

  /** What waits, as anybody sees it. */
  get payloads(): ReadonlyArray<Payload> {
    return [...this.#candidates.values()].flat().flatMap(({ transaction }) => transaction.payloads)
  }

  get lanes(): ReadonlyArray<string> {
    return [...new Set([...this.#candidates.keys()].map((key) => key.split(" ")[0]!))]
  }
}

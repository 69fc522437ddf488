/**
 * A simulated chain: blocks by the clock, a mempool, reorganizations shallower than what the service takes for
 * confirmed.
 *
 * What it includes it can take back. Everything that ever was included and taken back is kept, so that invariants can
 * count what counts.
 */
import { type AssetId, type ChainId, type AccountId } from "#domain/values/Caip.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Harness } from "#test/simulation/harness/Harness.ts"
import { Accounts, type Delta } from "#test/simulation/world/Accounts.ts"
import { execute, type Execution, type Part, pools } from "#test/simulation/world/execute.ts"
import type { Market } from "#test/simulation/world/Market.ts"
import { Mempool, type PoolTransaction } from "#test/simulation/world/Mempool.ts"
import { digestOf, type Payload } from "#test/simulation/world/Payload.ts"

/** A transaction in a block. */
export interface Inclusion {
  readonly txHash: string
  readonly block: number
  readonly blockHash: string
  readonly execution: Execution
  /** Puts it in again after a reorganization. */
  readonly again: () => void
  readonly undo: () => void
}

/** A transaction that included something, and what became of that. */
export interface Including {
  readonly inclusion: Inclusion
  readonly part: Part
}

/** How a transaction fares that the mempool takes. */
export interface MempoolFate {
  readonly waitMs: number
  /** The nodes forget it after this long, if it is not mined by then. */
  readonly forgottenAfterMs: number | null
}

export interface ChainOptions {
  readonly chainId: ChainId
  readonly blockMs: number
  readonly confirmations: number
}

export class Chain {
  readonly chainId: ChainId
  readonly confirmations: number
  readonly blockMs: number
  readonly accounts = new Accounts()
  readonly mempool = new Mempool()
  readonly #harness: Harness
  readonly #market: Market
  readonly #random: Random
  readonly #startedAt: number
  #inclusions: Array<Inclusion> = []
  readonly #byHash = new Map<string, Inclusion>()
  #reorganizations = 0
  /** Endpoints do not answer before. */
  downUntil = 0
  /** All that is read of it is so many blocks old, until then. */
  lag = 0
  lagUntil = 0
  /** Nobody searches logs before. */
  logsRefusedUntil = 0
  /** Draws how a transaction fares; at once unless faults say otherwise. */
  fate: (transaction: PoolTransaction) => MempoolFate = () => ({ waitMs: 0, forgottenAfterMs: null })
  /** Called with everything that is included. */
  onInclusion: (inclusion: Inclusion) => void = () => {}

  constructor(
    { market, random, harness }: { readonly harness: Harness; readonly market: Market; readonly random: Random },
    { blockMs, chainId, confirmations }: ChainOptions
  ) {
    this.chainId = chainId
    this.blockMs = blockMs
    this.confirmations = confirmations
    this.#harness = harness
    this.#market = market
    this.#random = random
    this.#startedAt = harness.now - 1000 * blockMs
  }

  head(at = this.#harness.now): number {
    return Math.floor((at - this.#startedAt) / this.blockMs)
  }

  /** Unix seconds of the latest block. */
  get blockSeconds(): number {
    return Math.floor(this.#timeOf(this.head()) / 1000)
  }

  get confirmed(): number {
    return this.head() - this.confirmations + 1
  }

  get inclusions(): ReadonlyArray<Inclusion> {
    return this.#inclusions
  }

  find(txHash: string): Inclusion | undefined {
    return this.#byHash.get(txHash)
  }

  /** The transaction that included an action. */
  bridgeAssetOf(actionHash: string): Including | undefined {
    for (const inclusion of this.#inclusions.toReversed()) {
      const part = inclusion.execution.parts.find((one) => one.actionHash === actionHash)
      if (part !== undefined) return { inclusion, part }
    }
    return undefined
  }

  /** How many operations an account had carried out by a block. */
  operationsAt(account: AccountId, block: number): number {
    const later = this.#inclusions.filter(
      (inclusion) =>
        inclusion.block > block &&
        inclusion.execution.parts.some((part) => part.accountId === account && part.operationId !== null)
    ).length
    return (this.accounts.nonces.get(account) ?? 0) - later
  }

  /** A relayer's used nonces as of a block. */
  usedNonces(relayer: string, block: number): number {
    const later = this.#inclusions.filter(
      (inclusion) => inclusion.block > block && this.#relayerOf.get(inclusion.txHash) === relayer
    ).length
    return this.mempool.used(relayer) - later
  }

  /** Balance as of a block: a node that lags shows an old one. */
  balanceAt(account: AccountId, assetId: AssetId, block: number): bigint {
    let raw = this.accounts.balance(account, assetId)
    for (let index = this.#inclusions.length - 1; index >= 0 && this.#inclusions[index]!.block > block; index--)
      for (const delta of this.#inclusions[index]!.execution.deltas)
        if (delta.account === account && delta.assetId === assetId) raw -= delta.raw
    return raw
  }

  /** What would become of a transaction in the next block; nothing changes. */
  simulate(payloads: ReadonlyArray<Payload>): Execution {
    const execution = this.#execute(payloads, digestOf("simulation"), this.#harness.now)
    execution.undo()
    return execution
  }

  /** Takes a relayer's transaction; "used" when its nonce is. */
  send(transaction: PoolTransaction): "taken" | "known" | "used" {
    if (this.mempool.used(transaction.relayer) > transaction.nonce)
      return this.#byHash.has(transaction.txHash) ? "known" : "used"
    if (this.mempool.holds(transaction)) return "known"
    const { forgottenAfterMs, waitMs } = this.fate(transaction)
    this.mempool.add(transaction, this.#harness.now + waitMs)
    this.#atNextBlock(waitMs, () => this.mine(transaction.relayer))
    if (forgottenAfterMs !== null) this.#harness.after(forgottenAfterMs, () => this.mempool.forget(transaction))
    return "taken"
  }

  /** Mines what may be mined of a relayer, in the order of its nonces. */
  mine(relayer: string): void {
    for (;;) {
      const eligible = this.mempool.eligible(relayer, this.#harness.now)
      if (eligible.length === 0) return
      this.#mineOne(this.#random.pick(eligible))
    }
  }

  mineSoon(relayer: string): void {
    this.#atNextBlock(0, () => this.mine(relayer))
  }

  /** Somebody else's transaction with a payload that anybody may submit. */
  submitForeign(payload: Payload, txHash: string): void {
    this.#atNextBlock(0, () => {
      const again = () => this.submitForeign(payload, txHash)
      const execution = this.#execute([payload], txHash, this.#harness.now)
      if (execution.included) this.#include(txHash, execution, again)
    })
  }

  /** Tokens that come to accounts from outside of what the service does: deposits, and what bridges bring. */
  bring(txHash: string, deltas: ReadonlyArray<Delta>, onIncluded: () => void = () => {}): void {
    this.#atNextBlock(0, () => {
      for (const delta of deltas) this.accounts.change(delta)
      const undo = () => this.accounts.undo(deltas.toReversed())
      const execution: Execution = { included: true, reason: "", culprit: 0, parts: [], deltas, undo }
      this.#include(txHash, execution, () => this.bring(txHash, deltas))
      onIncluded()
    })
  }

  /** Endows the pools, outside of any block. */
  endow(assetId: AssetId, raw: bigint): void {
    this.accounts.change({ account: pools, assetId, raw })
  }

  /** Takes the latest blocks back; their transactions wait again. Never as deep as what counts as confirmed. */
  reorganize(depth: number): number {
    const from = this.head() - Math.min(depth, this.confirmations - 1) + 1
    const gone: Array<Inclusion> = []
    while ((this.#inclusions.at(-1)?.block ?? -1) >= from) gone.push(this.#inclusions.pop()!)
    for (const inclusion of gone) {
      inclusion.undo()
      this.#byHash.delete(inclusion.txHash)
    }
    this.#reorganizations += 1
    for (const inclusion of gone.toReversed()) inclusion.again()
    return gone.length
  }

  readonly #relayerOf = new Map<string, string>()

  #mineOne(transaction: PoolTransaction): void {
    const { relayer, nonce, payloads, txHash } = transaction
    const execution = this.#execute(payloads, txHash, this.#harness.now)
    this.mempool.setUsed(relayer, nonce + 1)
    this.mempool.forget(transaction)
    this.#relayerOf.set(txHash, relayer)
    const again = () => {
      this.mempool.add(transaction, this.#harness.now)
      this.#atNextBlock(0, () => this.mine(relayer))
    }
    this.#include(
      txHash,
      {
        ...execution,
        undo: () => {
          execution.undo()
          this.mempool.setUsed(relayer, nonce)
        }
      },
      again
    )
  }

  #include(txHash: string, execution: Execution, again: () => void): void {
    const block = this.head()
    const inclusion: Inclusion = {
      txHash,
      block,
      blockHash: digestOf(`${this.chainId} ${block} ${this.#reorganizations}`),
      execution,
      again,
      undo: execution.undo
    }
    this.#inclusions.push(inclusion)
    this.#byHash.set(txHash, inclusion)
    this.onInclusion(inclusion)
  }

  #execute(payloads: ReadonlyArray<Payload>, txHash: string, at: number): Execution {
    return execute(
      {
        accounts: this.accounts,
        txHash,
        at,
        output: (pair, raw, time) => this.#market.output(pair, raw, time)
      },
      payloads
    )
  }

  #timeOf(block: number): number {
    return this.#startedAt + block * this.blockMs
  }

  /** Runs at the beginning of a block, so that all that is read at its number shows one state. */
  #atNextBlock(waitMs: number, run: () => void): void {
    this.#harness.at(this.#timeOf(this.head(this.#harness.now + waitMs) + 1), run)
  }
}

/**
 * The bridge of a simulation and its provider: takes what accounts send and brings it to the other chain, late, less of
 * it, or back. The provider may not answer, answer too early, or say what is not true.
 */
import { type AssetId, chainIdOf, evmAccount, type AccountId } from "#domain/values/Caip.ts"
import type { RouteStatus } from "#domain/trading/Routing.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Harness } from "#test/simulation/harness/Harness.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import { pools } from "#test/simulation/world/execute.ts"
import { digestOf } from "#test/simulation/world/Payload.ts"
import { addressOf } from "#layers/evm/address.ts"

export type BridgeFate = "delivered" | "late" | "partial" | "refunded"

/** One transfer that the bridge took. */
export interface Included {
  readonly sourceTx: string
  readonly accountId: AccountId
  readonly transfer: OutgoingTransfer
  readonly fate: BridgeFate
  /** The transaction that ends it, and whether it is in a block. */
  readonly endTx: string
  ended: boolean
  /** What the account gets, and of what. */
  readonly assetId: AssetId
  readonly raw: bigint
}

/** How likely the provider errs. */
export interface BridgeFaults {
  fates: ReadonlyArray<readonly [weight: number, fate: BridgeFate]>
  /** That one poll of the status is not answered. */
  silent: number
  /** That one poll is answered with something that is not so. */
  lies: number
}

const costBps = 10n
const whole = 10_000n

export class Bridge {
  readonly #harness: Harness
  readonly #random: Random
  readonly #chains: ReadonlyMap<number, Chain>
  readonly #included = new Map<string, Array<Included>>()
  readonly faults: BridgeFaults = { fates: [[1, "delivered"]], silent: 0, lies: 0 }
  /** Nothing waits longer. */
  longestMs = Infinity

  constructor(harness: Harness, random: Random, chains: ReadonlyMap<number, Chain>) {
    this.#harness = harness
    this.#random = random
    this.#chains = chains
  }

  get all(): ReadonlyArray<Included> {
    return [...this.#included.values()].flat()
  }

  expected(amountRaw: bigint): bigint {
    return (amountRaw * (whole - costBps)) / whole
  }

  /** Takes a transfer of a transaction that may still be reorganized away; it is brought once that can no longer be. */
  take(
    sourceTx: string,
    accountId: AccountId,
    { position, transfer }: { readonly transfer: OutgoingTransfer; readonly position: number }
  ): void {
    const source = this.#chains.get(chainIdOf(transfer.sell))!
    const block = source.find(sourceTx)!.block
    const poll = (): void => {
      const inclusion = source.find(sourceTx)
      if (
        inclusion === undefined ||
        inclusion.block !== block ||
        inclusion.execution.parts.every(({ transfers }) => transfers.length === 0)
      )
        return
      if (inclusion.block > source.confirmed) return this.#harness.after(source.blockMs, poll)
      this.#submit(sourceTx, accountId, { transfer, position })
    }
    this.#harness.after(source.blockMs, poll)
  }

  /** What the provider says; transfers of one transaction share it. */
  status(sourceTx: string): RouteStatus {
    const [included] = this.#included.get(sourceTx) ?? []
    if (included === undefined) return { _tag: "Pending", detail: "the source transaction is not known yet" }
    if (!included.ended) {
      if (!this.#random.chance(this.faults.lies)) return { _tag: "Pending", detail: "on its way" }
      return this.#random.pick<RouteStatus>([
        { _tag: "Delivered", txHash: included.endTx },
        { _tag: "Delivered", txHash: digestOf(`nothing ${sourceTx}`) },
        { _tag: "Refunded", txHash: sourceTx },
        { _tag: "Delivered", txHash: sourceTx },
        { _tag: "Delivered", txHash: this.#ownBatch(included) ?? sourceTx },
        { _tag: "Failed", reason: "it was never seen" }
      ])
    }
    if (this.#random.chance(this.faults.lies)) return { _tag: "Failed", reason: "an internal error" }
    const { endTx: txHash, fate } = included
    if (fate === "refunded") return { _tag: "Refunded", txHash }
    return fate === "partial" ? { _tag: "Partial", txHash } : { _tag: "Delivered", txHash }
  }

  /** The latest transaction in which the account itself did something where the transfer goes. */
  #ownBatch({ accountId, transfer }: Included): string | undefined {
    const target = this.#chains.get(chainIdOf(transfer.buy))!
    const account = evmAccount(target.chainId, addressOf(accountId))
    return target.inclusions.findLast(({ execution }) => execution.parts.some((part) => part.accountId === account))
      ?.txHash
  }

  #submit(
    sourceTx: string,
    accountId: AccountId,
    { position, transfer }: { readonly transfer: OutgoingTransfer; readonly position: number }
  ): void {
    const before = this.#included.get(sourceTx) ?? []
    if (before.length > position) return
    const fate = this.#random.weighted(this.faults.fates)
    const target = this.#chains.get(chainIdOf(fate === "refunded" ? transfer.sell : transfer.buy))!
    const assetId = fate === "refunded" ? transfer.sell : transfer.buy
    const raw = this.#amount(transfer, fate)
    const endTx = digestOf(`bridge ${sourceTx} ${position}`)
    const included: Included = { sourceTx, accountId, transfer, fate, endTx, ended: false, assetId, raw }
    this.#included.set(sourceTx, [...before, included])
    const account = evmAccount(target.chainId, addressOf(accountId))
    const bring = () => {
      if (included.ended) return
      target.bring(
        endTx,
        [
          { account: pools, assetId, raw: -raw },
          { account, assetId, raw }
        ],
        () => {
          included.ended = true
        }
      )
    }
    this.#harness.after(Math.min(this.#wait(fate), this.longestMs), bring)
  }

  #amount({ amountRaw, minRaw }: OutgoingTransfer, fate: BridgeFate): bigint {
    if (fate === "refunded") return amountRaw
    if (fate === "partial") return (minRaw * BigInt(this.#random.between(10, 99))) / 100n
    return this.expected(amountRaw)
  }

  #wait(fate: BridgeFate): number {
    return fate === "late" ? this.#random.between(600_000, 2 * 3_600_000) : this.#random.between(2_000, 120_000)
  }
}

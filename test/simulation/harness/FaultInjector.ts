/**
 * What goes wrong in a simulation, drawn from its seed: how often each part fails, outages, reorganizations, thieves.
 */
import type { Actors } from "#test/simulation/actors/Actors.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Session } from "#test/simulation/harness/Session.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { Chain, MempoolFate } from "#test/simulation/world/Chain.ts"
import { relayersOf } from "#test/simulation/ports/SimulatedRelayer.ts"
import { digestOf, type Payload } from "#test/simulation/world/Payload.ts"
import type { World } from "#test/simulation/world/World.ts"

const minute = 60_000

export class FaultInjector {
  readonly #world: World
  readonly #session: Session
  readonly #random: Random
  #foreign = 0
  #isBad = false
  /** How likely a process dies around a statement that writes, and between any two turns. */
  crashAtWrite = 0
  crashAtTurn = 0
  /** How likely a process stands still for a while, at each jump of the time. */
  freeze = 0

  constructor(world: World, session: Session, random: Random) {
    this.#world = world
    this.#session = session
    this.#random = random
  }

  /** Turns bad: in some simulations everything fails a little, in others one thing fails much. */
  turnBad(actors: Actors): void {
    this.#isBad = true
    const { bridge, chains, faults } = this.#world
    const often = (most: number) => (this.#random.chance(0.3) ? 0 : this.#random.unit() * most)
    Object.assign(faults, { unreachable: often(0.08), slow: often(0.1), stale: often(0.1) })
    Object.assign(this.#session.faults, {
      refused: often(0.01),
      lostBefore: often(0.005),
      lostAfter: often(0.01),
      lockWaits: often(0.02)
    })
    Object.assign(bridge.faults, {
      silent: often(0.3),
      lies: often(0.1),
      fates: [
        [6, "delivered"],
        [2, "late"],
        [1, "partial"],
        [1, "refunded"]
      ]
    })
    this.#keysAndPrices()
    this.crashAtWrite = often(0.01)
    this.crashAtTurn = often(0.0005)
    this.freeze = often(0.002)
    for (const chain of chains.values()) {
      const stuck = often(0.15)
      const forgotten = often(0.15)
      const seen = often(0.2)
      chain.fate = ({ payloads }) => {
        if (payloads.length > 0 && this.#random.chance(seen)) this.#submit(chain, this.#random.pick(payloads))
        return this.#fate(chain, stuck, forgotten)
      }
      this.#often(chain.blockMs * 40, 240 * minute, () => this.#reorganize(chain))
      this.#often(60 * minute, 1_000 * minute, () => this.#outage(chain))
      this.#often(120 * minute, 2_000 * minute, () => this.#useNonce(chain))
      this.#nodesOf(chain)
    }
    this.#often(60 * minute, 1_000 * minute, () => {
      this.#world.pricesDownUntil = this.#world.harness.now + this.#random.between(1, 20) * minute
      this.#world.trace.note("fault: prices are down for a while")
    })
    this.#often(20 * minute, 400 * minute, () => this.#submitOthers(actors))
  }

  /** Everything works from now on, and nothing waits any longer. */
  clear(): void {
    this.#isBad = false
    const { bridge, chains, faults, market, harness } = this.#world
    Object.assign(faults, { unreachable: 0, slow: 0, stale: 0, keyHangs: 0 })
    Object.assign(this.#session.faults, { refused: 0, lostBefore: 0, lostAfter: 0, lockWaits: 0 })
    Object.assign(bridge.faults, { silent: 0, lies: 0, fates: [[1, "delivered"]] })
    this.crashAtWrite = 0
    this.crashAtTurn = 0
    this.freeze = 0
    market.calmFrom = harness.now
    this.#world.pricesDownUntil = 0
    this.#world.attestorDownUntil = 0
    for (const chain of chains.values()) {
      chain.downUntil = 0
      chain.lagUntil = 0
      chain.logsRefusedUntil = 0
      chain.fate = () => ({ waitMs: 0, forgottenAfterMs: null })
      chain.mempool.release(harness.now)
      for (const relayer of chain.mempool.relayers) chain.mineSoon(relayer)
    }
  }

  /** Repeats something at random times for as long as faults are injected. */
  #often(minMs: number, maxMs: number, run: () => void): void {
    this.#world.harness.after(this.#random.between(minMs, maxMs), () => {
      if (!this.#isBad) return
      run()
      this.#often(minMs, maxMs, run)
    })
  }

  /** Keys that hang, and an attestor that is down for a while now and then. */
  #keysAndPrices(): void {
    const { faults, keysAndPrices: random, harness, trace } = this.#world
    faults.keyHangs = random.chance(0.3) ? 0 : random.unit() * 0.1
    const later = () =>
      harness.after(random.between(30 * minute, 400 * minute), () => {
        if (!this.#isBad) return
        this.#world.attestorDownUntil = harness.now + random.between(5, 60) * minute
        trace.note("fault: the attestor is down for a while")
        later()
      })
    later()
  }

  #fate(chain: Chain, stuck: number, forgotten: number): MempoolFate {
    const waitMs = this.#random.chance(stuck)
      ? this.#random.between(30_000, 15 * minute)
      : this.#random.between(0, 3) * chain.blockMs
    if (waitMs > 30_000) this.#world.trace.note("fault: a transaction waits for long")
    const forgottenAfterMs = this.#random.chance(forgotten) ? this.#random.between(0, 20_000) : null
    if (forgottenAfterMs !== null) this.#world.trace.note("fault: a transaction is forgotten")
    return { waitMs, forgottenAfterMs }
  }

  /**
   * Nodes that stop following their chain for a while, or refuse to search logs: draws of their own. What they say of
   * tips, and how wide they search, is below the ports that are simulated.
   */
  #nodesOf(chain: Chain): void {
    const { chains, harness, nodes: random, trace } = this.#world
    const place = [...chains.values()].indexOf(chain)
    const later = (between: readonly [number, number], run: () => void): void =>
      harness.after(random.between(...between) + place, () => {
        if (!this.#isBad) return
        run()
        later(between, run)
      })
    if (random.chance(0.5))
      later([20 * minute, 300 * minute], () => {
        chain.lag = random.between(3, 60)
        chain.lagUntil = harness.now + random.between(20_000, 20 * minute)
        trace.note("fault: nodes lag", `chain ${chain.chainId} by ${chain.lag} blocks`)
      })
    if (random.chance(0.3))
      later([30 * minute, 400 * minute], () => {
        chain.logsRefusedUntil = harness.now + random.between(20_000, 20 * minute)
        trace.note("fault: nodes refuse logs", String(chain.chainId))
      })
  }

  #reorganize(chain: Chain): void {
    const gone = chain.reorganize(this.#random.between(1, 5))
    if (gone > 0) this.#world.trace.note("fault: reorganization", `chain ${chain.chainId} takes ${gone} back`)
  }

  #outage(chain: Chain): void {
    chain.downUntil = this.#world.harness.now + this.#random.between(10_000, 15 * minute)
    this.#world.trace.note("fault: a chain is down for a while", String(chain.chainId))
  }

  /** The relayer's key is used elsewhere. */
  #useNonce(chain: Chain): void {
    const relayer = this.#random.pick(relayersOf(this.#world))
    const nonce = chain.mempool.used(relayer)
    this.#foreign += 1
    this.#world.trace.note("fault: a nonce is used elsewhere", `${nonce} of ${relayer.slice(-4)} on ${chain.chainId}`)
    chain.send({ txHash: digestOf(`elsewhere ${this.#foreign}`), relayer, nonce, fee: 1, payloads: [] })
  }

  #submit(chain: Chain, payload: Payload): void {
    this.#foreign += 1
    this.#world.trace.note(
      `fault: somebody else submits ${payload._tag === "UserOperation" ? "an operation" : "a withdrawal"}`
    )
    chain.submitForeign(payload, digestOf(`foreign ${this.#foreign}`))
  }

  /** Somebody submits what others signed: operations from a mempool, and owners' authorizations. */
  #submitOthers(actors: Actors): void {
    for (const chain of this.#world.chains.values())
      for (const payload of chain.mempool.payloads) {
        if (!this.#random.chance(0.3)) continue
        this.#submit(chain, payload)
      }
    const signed = actors.signed.at(-1)
    if (signed === undefined || signed.signed.message.liquidate === true) return
    const { accountId } = signed
    this.#submit(this.#world.chain(chainIdOf(accountId)), {
      _tag: "OwnersWithdrawal",
      accountId,
      message: signed.signed.message
    })
  }
}

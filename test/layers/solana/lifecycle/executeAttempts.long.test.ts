/** An operation is carried out exactly once, whatever becomes of its transactions and wherever the process ends. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Keypair, type PublicKey, SystemProgram } from "@solana/web3.js"
import { Duration, Effect, Exit, Redacted } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import { localAgent } from "#layers/solana/lifecycle/Agent.ts"
import type { AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"
import { executeAttempts, type LandingTiming, awaitOutcome } from "#layers/solana/lifecycle/executeAttempts.ts"
import { prepare, signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { subAccount } from "#layers/solana/swig/addresses.ts"
import { submit, firstSubAccount, newWalletId } from "#test/layers/solana/submit.ts"
import { newJournal, type TestJournal } from "#test/layers/solana/lifecycle/journal.ts"
import { forwards, type Proxy, startProxy } from "#test/layers/solana/rpc/endpoints.ts"
import { fundedKey, lamportsOf, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
let node: Proxy
const agentKey = Keypair.generate()
const agent = localAgent(Redacted.make(agentKey.secretKey.slice(0, 32)))
const id = newWalletId()
const account = subAccount(id, 1).address

beforeAll(async () => {
  chain = await startTestChain()
  node = await startProxy(chain.url)
  chain.ledger.airdrop(agentKey.publicKey, 10n * sol)
  const owner = fundedKey(chain)
  assert.isNull((await submit(chain, firstSubAccount(id, owner.publicKey), [agentKey, owner])).error)
  chain.ledger.airdrop(account, 5n * sol)
})
afterAll(() => Promise.all([node.close(), chain.close()]))

/** Each time the height of the chain is read, it is `slots` further. */
const passing =
  (slots: bigint): Proxy["answer"] =>
  (method, forward) => {
    if (method === "getEpochInfo") {
      chain.ledger.advance(slots)
      chain.intake.release()
    }
    return forwards(method, forward)
  }

beforeEach(() => {
  chain.fate = "ok"
  node.answer = passing(3n)
  node.asked.length = 0
})

const timing: LandingTiming = {
  commitment: "confirmed",
  resendEvery: Duration.millis(1),
  waitAtMost: Duration.seconds(20)
}
const fees = { percentile: 75, maxPriorityLamports: 1_000_000n }
const paid = 1_000_000n

const payTo = (recipient: PublicKey, lamports = paid) => [
  {
    _tag: "ActForSubAccount" as const,
    id,
    roleId: 1,
    inner: [SystemProgram.transfer({ fromPubkey: account, toPubkey: recipient, lamports })]
  }
]

const make = (recipient: PublicKey, lamports = paid) =>
  Effect.flatMap(prepare({ agent: agent.key, steps: payTo(recipient, lamports), fees }), (prepared) =>
    signedByAgent(agent, prepared)
  )

const rpc = SolanaRpc.layer

const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc>) => Effect.provide(effect, rpc([Redacted.make(node.url)]))

const pay = (journal: AttemptJournal<never>, recipient: PublicKey, wait = timing) =>
  run(executeAttempts(journal, make(recipient), wait))

/** The recipient's account is made by what it is paid, so it must be worth its rent. */
const newRecipient = (): PublicKey => Keypair.generate().publicKey
const received = (recipient: PublicKey) => lamportsOf(chain, recipient)

describe("a transaction that is sent", () => {
  it.live("lands, and a second call with the same journal sends nothing more", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      const { attempt, outcome } = yield* pay(journal, recipient)
      assert.strictEqual(outcome._tag, "Landed")
      assert.deepStrictEqual(yield* pay(journal, recipient), { attempt, outcome })
      assert.strictEqual(journal.recorded.length, 1)
      assert.strictEqual(node.asked.filter((method) => method === "sendTransaction").length, 1)
      assert.strictEqual(received(recipient), paid)
    })
  )

  it.live("is recorded before it is sent, and has its limit and price from the chain", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      let recordedAtSend = -1
      node.answer = (method, forward) => {
        if (method === "sendTransaction") recordedAtSend = journal.recorded.length
        return passing(3n)(method, forward)
      }
      const { attempt } = yield* pay(journal, recipient)
      assert.strictEqual(recordedAtSend, 1)
      assert.strictEqual(attempt.signature, Base58.encode(attempt.transaction.slice(1, 65)))
      assert.isTrue(node.asked.indexOf("simulateTransaction") < node.asked.indexOf("sendTransaction"))
    })
  )

  it.live("that was lost is sent again, the same bytes, until it lands", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      chain.fate = "dropped"
      let sent = 0
      node.answer = (method, forward) => {
        if (method === "sendTransaction" && ++sent === 5) chain.fate = "ok"
        return passing(3n)(method, forward)
      }
      assert.strictEqual((yield* pay(journal, recipient)).outcome._tag, "Landed")
      assert.strictEqual(sent, 5)
      assert.strictEqual(journal.recorded.length, 1)
      assert.strictEqual(received(recipient), paid)
    })
  )

  it.live("that lands late is waited for, and never signed again", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      chain.fate = "late"
      assert.strictEqual((yield* pay(journal, recipient)).outcome._tag, "Landed")
      assert.strictEqual(journal.recorded.length, 1)
      assert.strictEqual(received(recipient), paid)
    })
  )

  it.live("that is lost until it expired is signed anew, and only then; what is late then lands no more", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      chain.fate = "dropped"
      const counting: TestJournal = {
        ...journal,
        record: (attempt) =>
          Effect.suspend(() => {
            const last = journal.recorded.at(-1)
            if (last !== undefined) {
              assert.isTrue(chain.ledger.blockHeight > last.lastValidBlockHeight)
              chain.fate = "ok"
            }
            return journal.record(attempt)
          })
      }
      assert.strictEqual((yield* pay(counting, recipient)).outcome._tag, "Landed")
      assert.strictEqual(journal.recorded.length, 2)
      chain.ledger.advance(50n)
      chain.intake.release()
      yield* Effect.promise(() =>
        chain.connection.sendRawTransaction(journal.recorded[0]!.transaction, { skipPreflight: true })
      )
      assert.strictEqual(received(recipient), paid)
    })
  )

  it.live("of which nothing is known in time stays open, and is found by the next call", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      chain.fate = "dropped"
      node.answer = forwards
      const open = yield* Effect.flip(pay(journal, recipient, { ...timing, waitAtMost: Duration.millis(20) }))
      assert.strictEqual(open._tag, "OutcomeUnknown")
      chain.fate = "ok"
      node.answer = passing(3n)
      assert.strictEqual((yield* pay(journal, recipient)).outcome._tag, "Landed")
      assert.strictEqual(journal.recorded.length, 1)
    })
  )

  it.live("that fails in its block is reported with the program's error, and is not repeated", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      // What could be paid when it was simulated is gone when it lands.
      const attempt = yield* run(make(recipient, received(account) - chain.ledger.rentOf(0)))
      yield* pay(newJournal(), newRecipient())
      const { outcome } = yield* run(executeAttempts(journal, Effect.succeed(attempt), timing))
      assert.deepStrictEqual(outcome._tag === "Failed" && outcome.error, { InstructionError: [2, { Custom: 1 }] })
      assert.strictEqual(journal.recorded.length, 1)
      assert.strictEqual(received(recipient), 0n)
    })
  )

  it.live("what would fail is neither signed nor sent", () =>
    Effect.gen(function* () {
      const journal = newJournal()
      const refused = yield* Effect.flip(run(executeAttempts(journal, make(newRecipient(), 1_000n * sol), timing)))
      assert.strictEqual(refused._tag, "SimulationFailed")
      assert.strictEqual(journal.recorded.length, 0)
      assert.isFalse(node.asked.includes("sendTransaction"))
    })
  )

  it.live("after five attempts that expired it ends, with words", () =>
    Effect.gen(function* () {
      const journal = newJournal()
      chain.fate = "dropped"
      node.answer = passing(160n)
      const ended = yield* Effect.flip(pay(journal, newRecipient()))
      assert.strictEqual(ended._tag, "AttemptsExpired")
      assert.strictEqual(journal.recorded.length, 5)
    })
  )

  it.live("reported final only when no fork can take it back", () =>
    Effect.gen(function* () {
      const [journal, recipient] = [newJournal(), newRecipient()]
      const { outcome } = yield* pay(journal, recipient, { ...timing, commitment: "finalized" })
      assert.isTrue(outcome._tag === "Landed" && chain.ledger.slot - outcome.slot > 31n)
    })
  )

  it.live("endpoints that contradict each other conclude nothing", () =>
    Effect.gen(function* () {
      const [journal, recipient, blind] = [
        newJournal(),
        newRecipient(),
        yield* Effect.promise(() => startProxy(chain.url))
      ]
      yield* pay(journal, recipient)
      // A node that has finalized the block knows its transactions; one that has not may be behind.
      chain.ledger.advance(40n)
      blind.answer = async (method, forward) => {
        const body = await forward()
        if (method !== "getSignatureStatuses") return { status: 200, body }
        const answer = JSON.parse(body) as { result: { value: Array<unknown> } }
        answer.result.value = [null]
        return { status: 200, body: JSON.stringify(answer) }
      }
      const failure = yield* Effect.flip(
        Effect.provide(
          awaitOutcome(journal.recorded[0]!, timing),
          rpc([Redacted.make(node.url), Redacted.make(blind.url)])
        )
      )
      assert.match(failure.message, /contradict each other/)
      yield* Effect.promise(() => blind.close())
    })
  )
})

describe("a process that ends anywhere", () => {
  /** Runs with a process that ends at its `step`-th meeting with the world, before or after that took effect. */
  const crashing = (step: number, when: "before" | "after", fate: TestChain["fate"]) =>
    Effect.gen(function* () {
      const [kept, recipient] = [newJournal(), newRecipient()]
      let meetings = 0
      let crashed = false
      const meeting = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          if (++meetings !== step) return effect
          crashed = true
          return when === "before"
            ? Effect.die("the process ends")
            : Effect.andThen(effect, Effect.die("the process ends"))
        })
      const journal = {
        latest: meeting(kept.latest),
        record: (attempt: Parameters<TestJournal["record"]>[0]) => meeting(kept.record(attempt))
      }
      chain.fate = fate
      const first = yield* Effect.exit(
        run(
          Effect.gen(function* () {
            const real = yield* SolanaRpc
            const wrap = (one: typeof real): typeof real => ({
              ...one,
              latestBlockhash: meeting(one.latestBlockhash),
              simulate: (transaction) => meeting(one.simulate(transaction)),
              send: (transaction) => meeting(one.send(transaction)),
              each: one.each.map((endpoint) => ({
                ...endpoint,
                statuses: (signatures) => meeting(endpoint.statuses(signatures))
              }))
            })
            return yield* Effect.provideService(
              executeAttempts(journal, make(recipient), timing),
              SolanaRpc,
              wrap(real)
            )
          })
        )
      )
      chain.fate = "ok"
      const { outcome } = Exit.isSuccess(first) ? first.value : yield* pay(kept, recipient)
      assert.strictEqual(outcome._tag, "Landed")
      chain.ledger.advance(30n)
      chain.intake.release()
      assert.strictEqual(received(recipient), paid)
      assert.isAtMost(kept.recorded.length, 1)
      return crashed
    })

  for (const when of ["before", "after"] as const) {
    for (const fate of ["ok", "late"] as const) {
      it.live(`ends ${when} any step, and transactions are ${fate}: paid once, signed once`, () =>
        Effect.gen(function* () {
          let steps = 0
          while (yield* crashing(steps + 1, when, fate)) steps += 1
          assert.isAtLeast(steps, 6)
        })
      )
    }
  }
})

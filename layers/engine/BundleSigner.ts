/**
 * Signs what is to go to a chain, several actions in one transaction where they may share one.
 *
 * What comes for a chain while an earlier group of it is signed is taken together, so transactions carry more as the load
 * grows and a lone action waits for nobody. May be repeated at any time: an attempt that is signed stays signed as it is.
 */
import { Context, DateTime, Effect, Layer, Metric, Option, Result, Scope } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/Metrics.ts"
import { ChainExecution } from "#domain/rebalance/ChainExecution.ts"
import { bundlesOf } from "#domain/relay/bundlesOf.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, type CarriedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { batched } from "#layers/sql/batched.ts"

/** Transactions of one chain that are simulated and signed side by side. */
const concurrency = 4

type Actions = readonly [CarriedAction, ...ReadonlyArray<CarriedAction>]
type Answer = Result.Result<void, ChainUnavailable>
type Answers = ReadonlyArray<readonly [CarriedAction, Answer]>

export class BundleSigner extends Context.Service<
  BundleSigner,
  {
    /**
     * Afterwards the attempt's transaction is stored. Fails when the key gave no signature: nothing is stored then. Not
     * for use inside a transaction.
     */
    readonly sign: (action: CarriedAction) => Effect.Effect<void, ChainUnavailable>
  }
>()("ballast/layers/engine/BundleSigner") {
  static readonly layer = Layer.effect(
    BundleSigner,
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = yield* Relayer
      const execution = yield* ChainExecution

      const reserve = Effect.fnUntraced(function* (actions: Actions, transaction: PreparedTransaction) {
        const at = yield* DateTime.now
        const isSigned = yield* store.reserve(actions, relayer.lanes, at, (nonce, lane) =>
          relayer.sign(transaction, nonce, lane)
        )
        if (isSigned)
          yield* Metric.update(
            Metric.withAttributes(Metrics.bundleSize, { chain: String(transaction.chainId) }),
            actions.length
          )
        return isSigned
      })

      /** When it was signed before, that is as good. */
      const alone = (action: CarriedAction): Effect.Effect<Answers> =>
        Effect.map(Effect.result(Effect.asVoid(reserve([action], action.prepared))), (answer) => [[action, answer]])

      const eachAlone = (actions: ReadonlyArray<CarriedAction>) =>
        Effect.map(Effect.forEach(actions, alone), (answers) => answers.flat())

      /**
       * What the chain would refuse among others goes alone: whether it can still be carried, and whether somebody else
       * has done so, is told by what becomes of its own transaction.
       */
      const together = Effect.fnUntraced(function* (actions: Actions) {
        const [first, ...others] = actions
        const bundled = yield* Effect.option(
          execution.bundle([first.prepared, ...others.map(({ prepared }) => prepared)])
        )
        if (Option.isNone(bundled)) return yield* eachAlone(actions)
        const { kept, transaction } = bundled.value
        const [one, ...more] = kept.map((index) => actions[index]!)
        if (one === undefined) return yield* eachAlone(actions)
        const left = yield* eachAlone(actions.filter((_, index) => !kept.includes(index)))
        const signed = yield* Effect.result(reserve([one, ...more], transaction))
        if (Result.isSuccess(signed) && !signed.success) return [...left, ...(yield* eachAlone([one, ...more]))]
        const answer = Result.map(signed, () => undefined)
        return [...left, ...[one, ...more].map((action) => [action, answer] as const)]
      })

      const signAll = Effect.fnUntraced(function* (actions: ReadonlyArray<CarriedAction>) {
        const before = new Set((yield* store.signed(actions.map(({ attempt }) => attempt))).map(keyOf))
        const open = actions.filter(({ attempt }) => !before.has(keyOf(attempt)))
        const answers = yield* Effect.forEach(
          bundlesOf(open, ({ prepared }) => prepared),
          (bundle) => (bundle.length === 1 ? alone(bundle[0]) : together(bundle)),
          { concurrency }
        )
        const found = new Map(answers.flat().map(([{ attempt }, answer]) => [keyOf(attempt), answer]))
        return ({ attempt }: CarriedAction): Answer => found.get(keyOf(attempt)) ?? Result.void
      })

      const scope = yield* Effect.scope
      const queues = new Map<number, (action: CarriedAction) => Effect.Effect<Answer>>()
      const queueOf = Effect.fnUntraced(function* (chainId: number) {
        const known = queues.get(chainId)
        if (known !== undefined) return known
        const queue = yield* Effect.provideService(
          batched(({ attempt }: CarriedAction) => keyOf(attempt), signAll),
          Scope.Scope,
          scope
        )
        queues.set(chainId, queue)
        return queue
      })

      return BundleSigner.of({
        sign: Effect.fn("BundleSigner.sign")(function* (action: CarriedAction) {
          const queue = yield* queueOf(action.attempt.chainId)
          return yield* Effect.flatMap(queue(action), Effect.fromResult)
        })
      })
    })
  )
}

const keyOf = ({ attempt, chainId, operationId }: AttemptId): string => `${operationId} ${chainId} ${attempt}`

/**
 * Signs what is to go to a chain, several actions in one transaction where they may share one.
 *
 * What comes for a chain within a short window, and while as many groups of it are signed as there are relayer
 * accounts, is taken together; gas limits alone decide into how many transactions it is cut. May be repeated at any
 * time: an attempt that is signed stays signed as it is.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Result } from "effect"
import { Chains } from "#domain/chain/Chains.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { bundlesOf } from "#domain/relay/bundlesOf.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, attemptKey, type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { batched } from "#domain/effects/batched.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/**
 * How long a signature waits for others that may share its transaction: steps of runs that were due together come
 * within some milliseconds of each other.
 */
export const BundleWindow = Context.Reference("ballast/domain/relay/BundleWindow", {
  defaultValue: () => Duration.millis(30)
})

/** Transactions of one chain that are simulated side by side: as many as are signed in one turn of an account. */
const concurrency = 8

type Actions = readonly [RelayedAction, ...ReadonlyArray<RelayedAction>]
type Answer = Result.Result<void, ChainUnavailable | CancelRequested>
type Answers = ReadonlyArray<readonly [RelayedAction, Answer]>

/**
 * Signs what goes to a chain, several actions in one transaction.
 *
 * **When to use**
 *
 * Use in `TransactionRelay` alone.
 */
export class BundleSigner extends Context.Service<
  BundleSigner,
  {
    /**
     * Afterwards the attempt's transaction is stored. Fails when the key gave no signature, or the operation is to be
     * cancelled: nothing is stored then. Not for use inside a transaction.
     */
    readonly sign: (action: RelayedAction) => Effect.Effect<void, ChainUnavailable | CancelRequested>
  }
>()("ballast/domain/relay/BundleSigner") {
  static readonly layer = Layer.effect(
    BundleSigner,
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = yield* Relayer
      const operations = yield* UserOperations

      const reserve = Effect.fnUntraced(function* (actions: Actions, transaction: PreparedTransaction) {
        const at = yield* DateTime.now
        const isSigned = yield* store.reserve(actions, {
          accounts: relayer.accounts,
          at,
          sign: (nonce, account) => relayer.sign(transaction, nonce, account)
        })
        if (isSigned)
          yield* Metric.update(
            Metric.withAttributes(Metrics.bundleSize, { chain: String(transaction.chainId) }),
            actions.length
          )
        return isSigned
      })

      /** Signs the action for a transaction of its own. When it was signed already, that is as good. */
      const alone = (action: RelayedAction) => Effect.asVoid(reserve([action], action.prepared))

      const eachAlone = (actions: ReadonlyArray<RelayedAction>): Effect.Effect<Answers> =>
        Effect.forEach(actions, (action) =>
          Effect.map(Effect.result(alone(action)), (answer) => [action, answer] as const)
        )

      /**
       * An action that the chain would refuse in a bundle goes alone: the outcome of its own transaction shows whether
       * it can still be included, or has been already.
       */
      const together = Effect.fnUntraced(function* (actions: Actions) {
        const [first, ...others] = actions
        const bundled = yield* operations.bundle([first.prepared, ...others.map(({ prepared }) => prepared)]).pipe(
          Effect.tapError(({ message }) => Effect.logWarning(`Signed each alone: ${message}`)),
          Effect.option
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

      /** The actions of a transaction are recorded when it is signed, and sent while others are still being signed. */
      const signAll = Effect.fnUntraced(function* (
        actions: ReadonlyArray<RelayedAction>,
        record: (action: RelayedAction, answer: Answer) => void
      ) {
        const answers = yield* Effect.forEach(
          bundlesOf(actions, ({ prepared }) => prepared),
          (bundle) =>
            Effect.tap(bundle.length === 1 ? eachAlone(bundle) : together(bundle), (signed) =>
              Effect.sync(() => signed.forEach(([action, answer]) => record(action, answer)))
            ),
          { concurrency }
        )
        const found = new Map(answers.flat().map(([{ attempt }, answer]) => [attemptKey(attempt), answer]))
        return ({ attempt }: RelayedAction): Answer => found.get(attemptKey(attempt)) ?? Result.void
      })

      const { supported } = yield* Chains
      const bundleWindow = yield* BundleWindow
      /** A key that does not answer holds up its own account alone: the next group goes to another one. */
      const queueOf = () =>
        batched(({ attempt }: RelayedAction) => attemptKey(attempt), signAll, {
          collectFor: bundleWindow,
          concurrency: relayer.accounts.length
        })
      const queues = new Map(
        yield* Effect.forEach(supported, (chainId) => Effect.map(queueOf(), (queue) => [chainId, queue] as const))
      )
      /** Queue of chains that are no longer configured. */
      const others = yield* queueOf()

      /** What is signed waits for no key: a run that goes on after a crash asks again. */
      const isSigned = yield* batched(attemptKey, (attempts: ReadonlyArray<AttemptId>) =>
        Effect.map(store.signed(attempts), (signed) => {
          const found = new Set(signed.map(attemptKey))
          return (attempt: AttemptId) => found.has(attemptKey(attempt))
        })
      )

      return BundleSigner.of({
        sign: Effect.fn("BundleSigner.sign")(function* (action: RelayedAction) {
          yield* spanIsAbout(action.attempt)
          if (yield* isSigned(action.attempt)) return
          // A withdrawal does not wait until a group has been simulated.
          if (action.prepared.bundleGas === undefined) return yield* alone(action)
          const queue = queues.get(action.attempt.chainId) ?? others
          return yield* Effect.flatMap(queue(action), Effect.fromResult)
        })
      })
    })
  )
}

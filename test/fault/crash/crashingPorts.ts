/**
 * Boundaries inside of steps, around what cannot be taken back: a relayer account that is held, a signature that is
 * given, and bytes that reach a chain whose answer is lost.
 */
import { Effect, Layer } from "effect"
import { Relayer } from "#domain/relay/Relayer.ts"
import { Boundaries } from "#test/fault/crash/Boundaries.ts"

export const crashingPorts = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const relayer = yield* Relayer
    const { pass } = yield* Boundaries
    return Relayer.of({
      ...relayer,
      sign: (prepared, nonce, account) =>
        pass(`signing for ${prepared.chainId}`).pipe(
          Effect.andThen(relayer.sign(prepared, nonce, account)),
          Effect.tap(() => pass(`signed for ${prepared.chainId}`))
        ),
      signReplacement: (transaction, fees) =>
        Effect.tap(relayer.signReplacement(transaction, fees), () => pass(`signed anew for ${transaction.chainId}`)),
      signCancelling: (transaction, cancelling) =>
        Effect.tap(relayer.signCancelling(transaction, cancelling), () =>
          pass(`signed to take back for ${transaction.chainId}`)
        ),
      broadcast: (transaction) =>
        pass(`sending to ${transaction.chainId}`).pipe(
          Effect.andThen(relayer.broadcast(transaction)),
          Effect.tap(() => pass(`sent to ${transaction.chainId}, unheard`))
        )
    })
  })
)

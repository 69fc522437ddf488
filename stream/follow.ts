/** Follows what the workers of a deployment share and announce, for as long as the scope lives. */
import { Duration, type Effect, type LogLevel, type Scope, Stream } from "effect"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

/** Pause between the end of a source, or its fault, and its next beginning. */
const interval = Duration.seconds(1)

/** A source that breaks off is begun again; `complaint` is logged with the cause. */
export const follow = <A, E, R>(
  source: Stream.Stream<A, E>,
  onValue: (value: A) => Effect.Effect<void, never, R>,
  fault: { readonly complaint: string; readonly level: LogLevel.Severity }
): Effect.Effect<void, never, R | Scope.Scope> =>
  keepGoingEvery(Stream.runForEach(source, onValue), { ...fault, interval })

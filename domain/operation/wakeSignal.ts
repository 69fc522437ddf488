/** The signal that ends the sleep of a run which waits for somebody. It says nothing: what to do is in the database. */
import { DurableDeferred } from "effect/workflow"

export const wakeSignal = DurableDeferred.make("wake")

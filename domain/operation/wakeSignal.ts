/** The signal that ends the sleep of a waiting run. It has no content: what to do is in the database. */
import { DurableDeferred } from "effect/workflow"

export const wakeSignal = DurableDeferred.make("wake")

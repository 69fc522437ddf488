import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { WakeQueue } from "#layers/clock/WakeQueue.ts"

const Sleepers = Schema.Array(
  Schema.Struct({
    wakeAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })),
    isCancelled: Schema.Boolean
  })
)

describe("WakeQueue", () => {
  it.prop("wakes everyone due, once, in order of time, and nobody who was taken out", [Sleepers], ([sleepers]) => {
    const queue = new WakeQueue()
    const woken: Array<number> = []
    const cancels = sleepers.map(({ wakeAt }) => queue.add({ wakeAt, wake: () => woken.push(wakeAt) }))
    sleepers.forEach(({ isCancelled }, index) => {
      if (isCancelled) cancels[index]!()
    })
    for (const now of [10, 20, 40]) for (const sleeper of queue.due(now)) sleeper.wake()
    cancels.forEach((cancel) => cancel())

    const expected = sleepers.filter(({ isCancelled }) => !isCancelled).map(({ wakeAt }) => wakeAt)
    assert.deepStrictEqual(
      woken,
      expected.sort((a, b) => a - b)
    )
    assert.isUndefined(queue.next)
  })
})

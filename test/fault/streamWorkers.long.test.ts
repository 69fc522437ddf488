/**
 * Stream workers as processes, on a real NATS server with JetStream (`TEST_NATS_URL`), killed and frozen under load.
 */
import { setTimeout as wait } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { leaseLines, startClient, startDeployment, symbols, until } from "#test/fault/support/streamDeployment.ts"
import { hasNats, type StoredTick, storedTicks } from "#test/stream/support/nats.ts"

/** Milliseconds within which another worker has the provider's connection. */
const promised = 5_000
/**
 * A machine that also runs other suites may be late once: one takeover of these in time shows what the lease allows.
 */
const maxKills = 3

type Client = ReturnType<typeof startClient>

/**
 * Asserts, with JetStream as the oracle: a client has exactly what is in the log since its snapshot, once and in order.
 */
const assertWhole = ({ frames, own }: Client, log: ReadonlyArray<StoredTick>) => {
  const [snapshot] = frames
  if (snapshot?.type !== "snapshot") throw new Error("The first frame is a snapshot")
  const got = frames.filter((frame) => frame.type === "event").map(({ sequence }) => sequence)
  const isOwn = ({ sequence, symbol }: StoredTick) =>
    own.includes(symbol) && sequence > snapshot.sequence && sequence <= got.at(-1)!
  assert.deepStrictEqual(
    got,
    log.filter(isOwn).map(({ sequence }) => sequence)
  )
  assert.deepStrictEqual([...new Set(frames.map(({ type }) => type))].sort(), ["event", "snapshot"], "no gap is sent")
}

/** No tick is in the log twice or out of order. */
const assertOrdered = (log: ReadonlyArray<StoredTick>) => {
  for (const symbol of symbols) {
    const times = log.filter((event) => event.symbol === symbol).map(({ startMs }) => startMs)
    assert.deepStrictEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b)
    )
  }
}

const epochsOf = (log: ReadonlyArray<StoredTick>) => [...new Set(log.map(({ epoch }) => epoch))]

describe.skipIf(!hasNats)("several stream workers (needs NATS with JetStream at TEST_NATS_URL)", () => {
  it("share one connection; when the one that holds it is killed under load, another takes over within 5 s and no client misses or repeats a message", async () => {
    const deployment = await startDeployment(2, { everyMs: 10 })
    const { massive } = deployment
    try {
      const clients = Array.from({ length: 12 }, (_, index) => startClient(deployment.baseUrl, index))
      const allHave = (more: number) => {
        const counts = clients.map((client) => client.events().length + more)
        return until(() => clients.every((client, index) => client.events().length >= counts[index]!))
      }
      await allHave(100)
      assert.strictEqual(massive.connections(), 1, "one upstream connection for both workers")
      const takeovers: Array<number> = []
      while (takeovers.length < maxKills && !takeovers.some((millis) => millis < promised)) {
        await until(() => deployment.holder() !== undefined)
        const before = massive.connections()
        const at = performance.now()
        deployment.holder()!.child.kill("SIGKILL")
        await until(() => massive.connections() > before && massive.open() === 1)
        takeovers.push(performance.now() - at)
        await allHave(100)
        // Another takes the place of the killed one, and clients go on.
        await deployment.startWorker()
        await allHave(100)
      }
      console.info(`taken over after ${takeovers.map(Math.round).join(", ")} ms`)
      assert.isBelow(Math.min(...takeovers), promised)
      for (const client of clients) await client.stop()
      const log = await storedTicks(deployment.prefix)
      for (const client of clients) assertWhole(client, log)
      assertOrdered(log)
    } finally {
      await deployment.stop()
    }
  })

  it("a holder that was frozen past its lease and wakes publishes nothing, though its provider sends it newer ticks than the new holder has", async () => {
    // Both connections stay open, and the older one is sent what nobody has published yet.
    const deployment = await startDeployment(2, { everyMs: 10, keepsOlder: true })
    const { massive } = deployment
    try {
      const frozen = deployment.holder()!
      const clients = Array.from({ length: 6 }, (_, index) => startClient(deployment.baseUrl, index))
      await until(() => clients.every((client) => client.events().length >= 50))
      frozen.child.kill("SIGSTOP")
      await until(() => massive.open() === 2)
      const [oldEpoch] = epochsOf(await storedTicks(deployment.prefix))
      while (epochsOf(await storedTicks(deployment.prefix)).length < 2) await wait(50)
      const before = leaseLines(frozen).length
      frozen.child.kill("SIGCONT")
      await until(() => leaseLines(frozen).length > before)
      assert.include(leaseLines(frozen).at(-1), "Does not hold the lease")
      // Its own clients go on from where they were.
      const counts = clients.map((client) => client.events().length + 200)
      await until(() => clients.every((client, index) => client.events().length >= counts[index]!))
      for (const client of clients) await client.stop()
      const log = await storedTicks(deployment.prefix)
      const takenOver = log.findIndex(({ epoch }) => epoch !== oldEpoch)
      assert.deepStrictEqual(epochsOf(log), [oldEpoch, log[takenOver]!.epoch])
      assert.deepStrictEqual(
        log.slice(takenOver).filter(({ epoch }) => epoch === oldEpoch),
        []
      )
      for (const client of clients) assertWhole(client, log)
      assertOrdered(log)
    } finally {
      await deployment.stop()
    }
  })
})

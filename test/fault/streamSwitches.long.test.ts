/**
 * Every switch of the control API that the stream has, in a world: what the fault does, and that the stream is whole
 * again.
 */
import { WebSocket } from "ws"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { iterate, type StreamFrame, type TicketTarget } from "#client/stream.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const stock = { kind: "asset", assetClass: "equity", symbol: "TSLA" } as const
const coin = { kind: "asset", assetClass: "crypto", symbol: "ETH" } as const

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let baseUrl: string

const ticket = async (target: TicketTarget) => {
  const answer = await fetch(`${baseUrl}/v1/tickets`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(target)
  })
  const body = (await answer.json()) as { token: string; baseUrl: string }
  return answer.status === 200 ? body : undefined
}

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
  baseUrl = (world.overview as unknown as { streamBaseUrl: string }).streamBaseUrl
  await eventually("both shares and coins are public", async () => (await ticket(stock)) && (await ticket(coin)))
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

afterEach(async () => {
  for (const target of ["massive", "coingecko"]) await fault(target, "ok")
})

const fault = async (target: string, mode: string, count?: number) => {
  const body = { target, mode, ...(count === undefined ? {} : { count }) }
  const { status } = await world.control("/faults", body)
  assert.strictEqual(status, 200, `${target} ${mode}`)
}

const provider = async (name: string) => {
  const headers = { authorization: `Bearer ${world.overview.adminToken}` }
  const { body } = await world.apiWith(headers)("POST", "/v1/rpc/marketDataStream.adminStatus", {})
  return body.result?.data.json.providers.find((one: { provider: string }) => one.provider === name)
}

/** Waits until the status that operators see is as `is` says; answers that status. */
const statusOnce = (name: string, what: string, is: (status: any) => boolean) =>
  eventually(`${name} is ${what}`, async () => {
    const status = await provider(name)
    return status !== undefined && is(status) ? status : undefined
  })

/**
 * Follows a target while `body` runs, and checks that nothing came twice, out of order or with a hole that no gap
 X
 */
const following = async (
  target: TicketTarget,
  body: (more: (count: number) => Promise<void>, frames: ReadonlyArray<StreamFrame>) => Promise<void>
) => {
  const frames: Array<StreamFrame> = []
  const frameIterator = iterate({ baseUrl }, target)[Symbol.asyncIterator]()
  const reading = (async () => {
    for (let next = await frameIterator.next(); next.done !== true; next = await frameIterator.next()) {
      frames.push(next.value)
    }
  })()
  const eventCount = () => frames.filter(({ type }) => type === "event").length
  const more = async (count: number) => {
    const enough = eventCount() + count
    await eventually(`${count} more events`, async () => (eventCount() >= enough ? true : undefined))
  }
  await more(2)
  await body(more, frames)
  await more(2)
  await frameIterator.return?.()
  await reading
  let last = 0
  let previous: number | undefined
  for (const frame of frames) {
    if (frame.type === "gap") previous = undefined
    if (frame.type === "snapshot") {
      assert.isAtLeast(frame.sequence, last)
      last = frame.sequence
      previous = frame.items[0]?.sequence
    }
    if (frame.type !== "event") continue
    assert.isAbove(frame.sequence, last)
    if (previous !== undefined) assert.strictEqual(frame.previous, previous)
    last = previous = frame.sequence
  }
  return frames
}

const timesOf = (frames: ReadonlyArray<StreamFrame>) =>
  frames.flatMap((frame) =>
    frame.type === "event" ? [frame.data.kind === "ohlcv" ? frame.data.startMs : frame.data.asOfMs] : []
  )

describe("coingecko", () => {
  it.each(["down", "error", "rate-limited"])(
    "%s: operators see it and clients wait; when it is ok the quotes go on",
    async (mode) => {
      const isFailing = (status: any) =>
        status.status === "error" && status.reconnect.attempt > 0 && status.reason !== null
      await following(coin, async (more) => {
        await fault("coingecko", mode)
        const failing = await statusOnce("coingecko", "in error", isFailing)
        assert.isNotNull(failing.reconnect.nextAttemptAt)
        await fault("coingecko", "ok")
        await more(2)
        await statusOnce(
          "coingecko",
          "connected",
          ({ reconnect, status }) => status === "connected" && reconnect.attempt === 0
        )
      })
    }
  )

  it("slow: answers of three seconds are in time, and their quotes come", async () => {
    await following(coin, async (more) => {
      await fault("coingecko", "slow")
      await more(2)
    })
  })

  it("drop-next: one lost answer is asked for again", async () => {
    await following(coin, async (more) => {
      await fault("coingecko", "drop-next")
      await more(2)
      assert.strictEqual((await provider("coingecko")).reconnect.attempt, 0)
    })
  })
})

describe("massive", () => {
  it.each(["down", "error", "rate-limited"])(
    "%s: the connection ends and is made anew until it holds; bars go on where the provider has them",
    async (mode) => {
      await following(stock, async (more) => {
        await fault("massive", mode)
        const lost = await statusOnce("massive", "lost", ({ reconnect }) => reconnect.attempt > 0)
        assert.strictEqual(lost.status === "connected", false)
        await fault("massive", "ok")
        await more(2)
        await statusOnce(
          "massive",
          "connected",
          ({ reconnect, status }) => status === "connected" && reconnect.attempt === 0
        )
      })
    }
  )

  it("slow: bars come three seconds late, over the same connection", async () => {
    await following(stock, async (more) => {
      await fault("massive", "slow")
      await more(3)
      assert.deepInclude(await provider("massive"), { status: "connected" })
    })
  })

  it("drop-next: the bar of one second never comes, and the others do", async () => {
    const frames = await following(stock, async (more) => {
      await more(1)
      await fault("massive", "drop-next")
      await more(3)
    })
    const times = timesOf(frames)
    assert.isTrue(
      times.some((time, index) => index > 0 && time - times[index - 1]! >= 2_000),
      "a second is missing"
    )
  })
})

describe("stream", () => {
  /** A plain socket, which does not come back: what its client gets at its end. */
  const plainSocket = async () => {
    const { baseUrl: address, token } = (await ticket(stock))!
    const url = `${address.replace(/^http/u, "ws")}/v1/assets/equity/TSLA/ohlcv/1s/ws?token=${token}`
    const socket = new WebSocket(url)
    const ended = new Promise<number>((resolve) => socket.once("close", resolve))
    await new Promise((resolve) => socket.once("message", resolve))
    socket.on("error", () => {})
    return { ended }
  }

  it("down: sockets are closed with 1001 in order, and clients go on at the successor", async () => {
    const plain = await plainSocket()
    const frames = await following(stock, async (more) => {
      await fault("stream", "down")
      assert.strictEqual(await plain.ended, 1001)
      await more(2)
    })
    assert.include(
      frames.map(({ type }) => type),
      "gap"
    )
  })

  it("kill: sockets break off without a word, and clients go on at the successor", async () => {
    const plain = await plainSocket()
    const frames = await following(coin, async (more) => {
      await fault("stream", "kill")
      assert.strictEqual(await plain.ended, 1006)
      await more(2)
    })
    assert.include(
      frames.map(({ type }) => type),
      "gap"
    )
  })

  it("slow: a worker that stands still for three seconds loses neither its clients nor an event", async () => {
    const frames = await following(stock, async (more) => {
      await fault("stream", "slow")
      await more(2)
    })
    assert.deepStrictEqual([...new Set(frames.map(({ type }) => type))].sort(), ["event", "snapshot"])
  })

  it.each(["error", "rate-limited", "drop-next"])(
    "%s: is refused, since a worker is a process and no provider",
    async (mode) => {
      const { body, status } = await world.control("/faults", { target: "stream", mode })
      assert.strictEqual(status, 400)
      assert.include(JSON.stringify(body), "mode")
    }
  )
})

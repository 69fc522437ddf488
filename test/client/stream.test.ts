/** The market-data client over sockets of the test: resuming, leaving, and platforms without a WebSocket. */
import { afterEach, assert, it, vi } from "vitest"
import { iterate, StreamRefused } from "ballast/stream"

const target = { kind: "asset", assetClass: "crypto", symbol: "ETH" } as const
const ticket = {
  baseUrl: "http://stream.test",
  token: "t",
  expiresInSeconds: 300,
  topics: ["asset:crypto:ETH:quote:tick"]
}

class FakeSocket extends EventTarget {
  isClosed = false
  readonly url: string

  constructor(url: string) {
    super()
    this.url = url
  }

  send(frame: unknown): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(frame) }))
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.dispatchEvent(new Event("close"))
  }
}

const event = (sequence: number) => ({
  v: 1,
  type: "event",
  topic: "t",
  sequence,
  previous: 0,
  symbol: "ETH",
  data: {}
})

/** Opens sockets that each run a script once they are listened to. */
const sockets = (...scripts: ReadonlyArray<(socket: FakeSocket) => void>) => {
  const opened: Array<FakeSocket> = []
  const makeSocket = (url: string) => {
    const socket = new FakeSocket(url)
    const script = scripts[opened.length]
    opened.push(socket)
    queueMicrotask(() => {
      socket.dispatchEvent(new Event("open"))
      script?.(socket)
    })
    return socket
  }
  return { opened, makeSocket }
}

afterEach(() => void vi.unstubAllGlobals())

const answerTickets = (status: number, body: unknown) => {
  const sent: Array<RequestInit> = []
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    sent.push(init)
    return Response.json(body, { status })
  })
  return sent
}

it("resumes after the last event, repeats none, ignores what it does not know, and closes when it is left", async () => {
  const sent = answerTickets(200, ticket)
  const { makeSocket, opened } = sockets(
    (socket) => {
      for (const frame of [
        event(4),
        { v: 1, type: "heartbeat", sequence: 5 },
        { v: 2, type: "event" },
        { v: 1, type: "x" }
      ])
        socket.send(frame)
      socket.close()
    },
    (socket) => [event(5), event(6)].forEach((frame) => socket.send(frame))
  )
  const seen: Array<number> = []
  const options = { baseUrl: "http://stream.test/", makeSocket, credentials: "include" } as const
  for await (const frame of iterate(options, target)) {
    seen.push((frame as { readonly sequence: number }).sequence)
    if (seen.length === 2) break
  }
  assert.deepStrictEqual(seen, [4, 6])
  assert.match(
    opened[1]!.url,
    /^ws:\/\/stream\.test\/v1\/assets\/crypto\/ETH\/quote\/tick\/ws\?token=t&afterSequence=5$/u
  )
  assert.isTrue(opened.every(({ isClosed }) => isClosed))
  assert.lengthOf(sent, 1)
  assert.strictEqual(sent[0]!.credentials, "include")
})

it("leaving closes the socket while it waits for a frame", async () => {
  answerTickets(200, ticket)
  const { makeSocket, opened } = sockets((socket) => socket.send(event(1)))
  const frames = iterate({ baseUrl: "http://stream.test", makeSocket }, target)[Symbol.asyncIterator]()
  await frames.next()
  const next = frames.next()
  await frames.return!()
  assert.isTrue((await next).done)
  assert.isTrue(opened[0]!.isClosed)
})

it("fails with StreamRefused where the worker refuses the target", async () => {
  answerTickets(403, { error: "public_asset_not_allowed", message: "not listed" })
  const { makeSocket } = sockets()
  const frames = iterate({ baseUrl: "http://stream.test", makeSocket }, target)[Symbol.asyncIterator]()
  const [refused] = await Promise.allSettled([frames.next()])
  const { reason } = refused as PromiseRejectedResult
  assert.instanceOf(reason, StreamRefused)
  assert.deepStrictEqual([reason.status, reason.error], [403, "public_asset_not_allowed"])
})

it("a platform without a WebSocket is told to give one, at once", () => {
  vi.stubGlobal("WebSocket", undefined)
  assert.throws(() => iterate({ baseUrl: "http://stream.test" }, target), /Node has one since version 22.*makeSocket/u)
})

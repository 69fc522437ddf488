/**
 * A pooler by transaction, as PgBouncer is in that mode: what a client sends between two transactions goes to another
 * session of the server than before, and the client's parameters of a session go nowhere.
 */
import { Effect } from "effect"
import { connect, createServer, type Server, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { endsWithReady, frameAt, isCancelRequest } from "#layers/sql/pglite/frames.ts"

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const message = (type: string, body: Buffer): Buffer => Buffer.concat([Buffer.from(type), word(body.length + 4), body])

/** The beginning of every session with the server: user and database alone. */
const startUp = (database: string): Buffer => {
  const body = Buffer.concat([word(196_608), Buffer.from(`user\0postgres\0database\0${database}\0\0`)])
  return Buffer.concat([word(body.length + 4), body])
}

const welcome = Buffer.concat([
  message("R", word(0)),
  message("S", Buffer.from("client_encoding\0UTF8\0")),
  message("K", Buffer.concat([word(1), word(1)])),
  message("Z", Buffer.from("I"))
])

/** The transaction's status of each ReadyForQuery in what the server sends, and what is left of a message. */
const readies = (bytes: Buffer): { readonly statuses: ReadonlyArray<string>; readonly rest: Buffer } => {
  const statuses: Array<string> = []
  let at = 0
  while (bytes.length >= at + 5) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    if (bytes.length < end) break
    if (bytes[at] === "Z".charCodeAt(0)) statuses.push(String.fromCharCode(bytes[at + 5]!))
    at = end
  }
  return { statuses, rest: bytes.subarray(at) }
}

class Session {
  readonly #socket: Socket
  #rest: Buffer = Buffer.alloc(0)
  #isStarted = false
  /** Who has the session now. */
  client: Socket | undefined
  onFree: () => void = () => {}
  owed = 0

  constructor(port: number, database: string) {
    this.#socket = connect(port, "127.0.0.1").on("error", () => undefined)
    this.#socket.write(startUp(database))
    this.#socket.on("data", (data: Buffer) => this.#answered(data))
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  end(): void {
    this.#socket.destroy()
  }

  #answered(data: Buffer): void {
    const { rest, statuses } = readies(Buffer.concat([this.#rest, data]))
    this.#rest = rest
    if (!this.#isStarted) {
      this.#isStarted = statuses.length > 0
      if (this.#isStarted) this.onFree()
      return
    }
    this.client?.write(data)
    this.owed -= statuses.length
    if (statuses.at(-1) === "I" && rest.length === 0 && this.owed <= 0) this.onFree()
  }
}

export class TransactionPooler {
  readonly #free: Array<Session> = []
  readonly #sessions: ReadonlyArray<Session>
  readonly #waiting: Array<(session: Session) => void> = []
  readonly #listener: Server
  /** How often a client was given another session than it had before. */
  changes = 0

  private constructor(target: URL, sessions: number) {
    this.#sessions = Array.from({ length: sessions }, () => {
      const session = new Session(Number(target.port || 5432), target.pathname.slice(1))
      session.onFree = () => this.#release(session)
      return session
    })
    this.#listener = createServer((client) => this.#serve(client))
  }

  static readonly make = (url: string, sessions: number) =>
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<TransactionPooler>((resolve) => {
            const pooler = new TransactionPooler(new URL(url), sessions)
            pooler.#listener.listen(0, "127.0.0.1", () => resolve(pooler))
          })
      ),
      (pooler) =>
        Effect.sync(() => {
          for (const session of pooler.#sessions) session.end()
          pooler.#listener.close()
        })
    )

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  #release(session: Session): void {
    session.client = undefined
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(session)
    else next(session)
  }

  #serve(client: Socket): void {
    let received: Buffer = Buffer.alloc(0)
    let isFirst = true
    let last: Session | undefined
    let mine: Session | undefined
    const give = (session: Session, bytes: Buffer, owed: number) => {
      if (last !== undefined && last !== session) this.changes += 1
      last = mine = session
      session.client = client
      session.owed += owed
      session.send(bytes)
    }
    client
      .on("error", () => undefined)
      .on("data", (data: Buffer) => {
        received = Buffer.concat([received, data])
        let end = 0
        let owed = 0
        for (
          let frame = frameAt(received, end, isFirst);
          frame !== undefined;
          frame = frameAt(received, end, isFirst)
        ) {
          if (isCancelRequest(frame) || frame.type === "X") return void client.destroy()
          end = frame.end
          if (isFirst) {
            isFirst = false
            received = received.subarray(end)
            end = 0
            client.write(welcome)
          } else if (endsWithReady(frame)) owed += 1
        }
        if (end === 0) return
        const bytes = received.subarray(0, end)
        received = received.subarray(end)
        if (mine?.client === client) return give(mine, bytes, owed)
        // The session that has been free for longest, so that it is another one whenever there is one.
        const session = this.#free.shift()
        if (session === undefined) this.#waiting.push((freed) => give(freed, bytes, owed))
        else give(session, bytes, owed)
      })
  }
}

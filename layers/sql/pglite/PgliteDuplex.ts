/**
 * A connection to a PGlite in this process, as the byte stream that a PostgreSQL client expects of a socket.
 *
 * Several connections may be open on the one session behind them: the gate is held from the first frame of a
 * connection until the server reports that no transaction is open. A connection that ends leaves nothing behind: its
 * transaction is rolled back and its prepared statements are dropped.
 */
import type { PGlite } from "@electric-sql/pglite"
import { Duplex } from "node:stream"
import { callbackify } from "node:util"
import { closedName, endsWithReady, frameAt, isCancelRequest, preparedName } from "#layers/sql/pglite/frames.ts"
import type { Gate } from "#layers/sql/pglite/Gate.ts"

const idle = "I".charCodeAt(0)

export class PgliteDuplex extends Duplex {
  readonly #db: PGlite
  readonly #gate: Gate
  readonly #prepared = new Set<string>()
  #received: Buffer = Buffer.alloc(0)
  #isFirstFrame = true
  #answering: Promise<void> = Promise.resolve()

  constructor(db: PGlite, gate: Gate) {
    super()
    this.#db = db
    this.#gate = gate
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    this.#answering = this.#answer()
    callbackify(() => this.#answering)(done)
  }

  override _final(done: (error?: Error | null) => void): void {
    done()
    this.destroy()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    callbackify(() => this.#cleanUp())((cause) => done(error ?? cause))
  }

  /** Hands every whole frame received so far to the database in one call. */
  async #answer(): Promise<void> {
    let end = 0
    let expectsReady = false
    for (;;) {
      const frame = frameAt(this.#received, end, this.#isFirstFrame)
      if (frame === undefined) break
      // A query runs to its end before this process reads anything else, so there is never one left to cancel.
      if (isCancelRequest(frame)) return void this.destroy()
      if (frame.type === "X") break
      this.#noteStatements(preparedName(frame), closedName(frame))
      this.#isFirstFrame = false
      expectsReady = endsWithReady(frame)
      end = frame.end
    }
    if (end === 0) return
    const request = this.#received.subarray(0, end)
    this.#received = this.#received.subarray(end)
    await this.#gate.enter(this)
    if (this.destroyed) return
    const lastByte = await this.#exchange(request)
    // ReadyForQuery closes the answer, and its last byte is the transaction status.
    if (expectsReady && lastByte === idle) this.#gate.leave(this)
  }

  async #exchange(request: Buffer): Promise<number | undefined> {
    let lastByte: number | undefined
    await this.#db.execProtocolRawStream(request, {
      onRawData: (data) => {
        // The database reuses the memory behind `data`.
        const copy = Buffer.from(data)
        lastByte = copy.at(-1) ?? lastByte
        this.push(copy)
      }
    })
    return lastByte
  }

  #noteStatements(prepared: string | undefined, closed: string | undefined): void {
    if (prepared !== undefined && prepared !== "") this.#prepared.add(prepared)
    if (closed !== undefined) this.#prepared.delete(closed)
  }

  async #cleanUp(): Promise<void> {
    await Promise.allSettled([this.#answering])
    if (this.#db.closed) return
    const hasOpenTransaction = this.#gate.isHeldBy(this)
    if (!hasOpenTransaction && this.#prepared.size === 0) return
    await this.#gate.enter(this)
    try {
      if (this.#db.closed) return
      if (hasOpenTransaction) await this.#db.exec("ROLLBACK")
      for (const name of await this.#survivingStatements())
        await this.#db.exec(`DEALLOCATE "${name.replaceAll('"', '""')}"`)
    } finally {
      this.#gate.leave(this)
    }
  }

  /** Those of the connection's statements that exist: one whose Parse failed does not. */
  async #survivingStatements(): Promise<ReadonlyArray<string>> {
    const { rows } = await this.#db.query<{ name: string }>("SELECT name FROM pg_prepared_statements")
    return rows.map((row) => row.name).filter((name) => this.#prepared.has(name))
  }
}

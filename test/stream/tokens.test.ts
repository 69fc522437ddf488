/** A ticket's token in the process that serves it: it opens topics and is in nothing that leaves the process. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openSocket } from "#test/stream/support/startWorker.ts"
import { startWorkerProcess, type WorkerProcess } from "#test/stream/support/workerProcess.ts"

const path = "/v1/assets/equity/TSLA/ohlcv/1s"
const exported: Array<string> = []
const collector = createServer((request, response) => {
  let body = ""
  request.on("data", (chunk: Buffer) => (body += chunk.toString()))
  request.on("end", () => {
    exported.push(body)
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
})
let worker: WorkerProcess

beforeAll(async () => {
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  worker = await startWorkerProcess({ LOG_LEVEL: "Trace", OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  await worker.register([{ assetClass: "equity", provider: "massive", symbol: "TSLA" }])
})
afterAll(async () => {
  await worker?.stop()
  collector.close()
})

describe("the token of a ticket", () => {
  it("is in no log line, trace or metric of the worker, whether it is good or not", async () => {
    const answer = await fetch(`${worker.url}/v1/tickets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "asset", assetClass: "equity", symbol: "TSLA" })
    })
    const { token } = (await answer.json()) as { token: string }
    const statusOf = async (at: string, given: string) => {
      const response = await fetch(`${worker.url}${at}?token=${given}`)
      await response.body?.cancel()
      return response.status
    }
    const wrong = `${token.slice(0, -6)}wrong1`
    assert.deepStrictEqual(
      [
        await statusOf(`${path}/snapshot`, token),
        await statusOf(`${path}/snapshot`, wrong),
        await statusOf("/nowhere", token)
      ],
      [200, 401, 404]
    )
    const socket = openSocket(worker.url, { path: `${path}/ws`, query: { token } })
    await socket.until(() => socket.frames.length > 0)
    assert.strictEqual(
      (await openSocket(worker.url, { path: `${path}/ws`, query: { token: wrong } }).refused()).status,
      401
    )
    await worker.stop()

    const whole = [worker.log(), ...exported].join("\n")
    assert.include(whole, "/snapshot", "the requests are in the traces")
    assert.include(whole, "ballast_stream_refusals")
    const [, claims = "", tag = ""] = token.split(".")
    for (const secret of [token, wrong, claims, tag]) assert.notInclude(whole, secret)
  })
})

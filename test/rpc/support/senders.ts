/** Requests of keys and sessions from many addresses of this host, and how those at their limit are refused. */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Streams } from "#test/api/support/StreamingApi.ts"

export interface Sent {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly json: any
}

/** A request from an address of this host. */
export const from = (address: string, { headers, method, path }: Sent) =>
  Effect.flatMap(Streams, ({ url }) =>
    Effect.promise(
      () =>
        new Promise<Received>((resolve, reject) => {
          const target = new URL(path, url("x"))
          const sent = httpRequest(target, { method, headers, localAddress: address }, (response) => {
            let text = ""
            response.setEncoding("utf8")
            response.on("data", (chunk: string) => (text += chunk))
            response.on("end", () =>
              resolve({ status: response.statusCode!, headers: response.headers, json: JSON.parse(text || "null") })
            )
          })
          sent.on("error", reject)
          sent.end(method === "POST" ? '{"json":{}}' : undefined)
        })
    )
  )

export const byKey = (key: string) => ({ "content-type": "application/json", "x-api-key": key })
export const byToken = (token: string) => ({ "content-type": "application/json", authorization: `Bearer ${token}` })

/** Refused by what is counted for the sender, with all that the wire has to say of it. */
export const assertAtLimit = ({ headers, json, status }: Received, limit: number) => {
  const error = json.error.json ?? json.error
  assert.deepStrictEqual([status, error.code], [429, "API_004"], JSON.stringify(json))
  assert.match(headers["retry-after"] ?? "", /^[1-9][0-9]?$/u)
  assert.deepStrictEqual([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]], [String(limit), "0"])
  assert.match(String(headers["x-ratelimit-reset"]), /^\d{10}$/u)
}

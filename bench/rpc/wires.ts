/** One read, as each wire asks for it: what is sent, and how an answer shows that it is one. */

export interface Read {
  readonly name: string
  readonly procedure: string
  readonly payload: object
  /** The route that answers the same over HTTP, without a procedure's protocol. */
  readonly route: string
}

export const wires = ["REST", "JSON wire", "native HTTP", "native WebSocket"] as const
export type Wire = (typeof wires)[number]

export interface HttpCall {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: string
}

/** One call in a message of Effect's RPC. */
export const message = ({ payload, procedure }: Read, id: number): string =>
  JSON.stringify({ _tag: "Request", id: `${id}`, tag: procedure, payload, headers: [] })

export const httpCall = (wire: Exclude<Wire, "native WebSocket">, read: Read): HttpCall => {
  switch (wire) {
    case "REST":
      return { method: "GET", path: read.route }
    case "JSON wire":
      return { method: "POST", path: `/v1/rpc/${read.procedure}`, body: JSON.stringify({ json: read.payload }) }
    case "native HTTP":
      return { method: "POST", path: "/v1/rpc", body: `${message(read, 1)}\n` }
  }
}

/** Recognises an answer. Both native wires answer every call with an exit, and errors with status 200. */
export const isAnswer = (wire: Wire, status: number, text: string): boolean =>
  status === 200 && (wire === "REST" || wire === "JSON wire" || text.includes('"_tag":"Success"'))

/**
 * Counts the requests that this process sends to a chain, by the method within them, where they leave: a proxy in front
 * of the chain would take CPU time of the process that is measured.
 */
import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"

export interface Counted {
  readonly url: string
  /** HTTP requests by method since the last reset. */
  readonly counts: Map<string, number>
}

/** What undici reports of a request that it is about to send. */
interface Created {
  readonly request: { readonly path: string; readonly body: unknown }
}

/** The method stands in front of its parameters, which may be long. */
const headBytes = 100

const methodOf = (body: unknown): string =>
  /"method":"([A-Za-z_]+)"/u.exec(Buffer.isBuffer(body) ? body.toString("latin1", 0, headBytes) : "")?.[1] ?? "unknown"

/**
 * Counts until the scope closes. Its URL is the chain's with a query: the chain ignores it, and only requests with it
 * are the service's, since the benchmark itself uses the plain one.
 */
export const countedRequests = (rpcUrl: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const counts = new Map<string, number>()
      const count = (message: unknown) => {
        const { body, path } = (message as Created).request
        if (!path.endsWith("?counted")) return
        const method = methodOf(body)
        counts.set(method, (counts.get(method) ?? 0) + 1)
      }
      subscribe("undici:request:create", count)
      const counted: Counted = { url: `${rpcUrl}/?counted`, counts }
      return { counted, count }
    }),
    ({ count }) => Effect.sync(() => unsubscribe("undici:request:create", count))
  ).pipe(Effect.map(({ counted }) => counted))

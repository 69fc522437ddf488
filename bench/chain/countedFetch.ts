/**
 * Counts the requests that this process sends to a chain, by the method within them, where they leave: a proxy in front
 * of the chain would take CPU time of the process that is measured.
 */
import { Effect } from "effect"

export interface Counted {
  readonly url: string
  /** HTTP requests by method since the last reset; a batch counts under the names of its calls. */
  readonly counts: Map<string, number>
}

const methodsOf = (body: unknown): string =>
  Array.from(String(body).matchAll(/"method":"([A-Za-z_]+)"/gu), ([, method]) => method).join("+")

/**
 * Counts until the scope closes. Its URL is the chain's with a query: the chain ignores it, and only requests with it
 * are the service's, since the benchmark itself uses the plain one.
 */
export const countedFetch = (rpcUrl: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const url = `${rpcUrl}/?counted`
      const counts = new Map<string, number>()
      const original = globalThis.fetch
      globalThis.fetch = (input, init) => {
        if (input === url) {
          const methods = methodsOf(init?.body)
          counts.set(methods, (counts.get(methods) ?? 0) + 1)
        }
        return original(input, init)
      }
      const counted: Counted = { url, counts }
      return { counted, original }
    }),
    ({ original }) =>
      Effect.sync(() => {
        globalThis.fetch = original
      })
  ).pipe(Effect.map(({ counted }) => counted))

/** What a search costs in the process, with the encoding of its answer. */
import { Effect, Schema } from "effect"
import { searches } from "#bench/assets/requests.ts"
import { indexOf } from "#bench/assets/snapshotOf.ts"
import { percentile } from "#bench/assets/latency.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"

const rounds = 60
const nowhere = { countryCode: null, regionCode: null, manualCountryCode: null }

export const inProcess = Effect.fnUntraced(function* (url: string) {
  const { search, snapshot } = yield* indexOf(url)
  const procedure = ClientProcedures.requests.get("assets.searchForTokens")!
  const encode = Schema.encodeUnknownSync(
    Schema.toCodecJson(procedure.successSchema) as unknown as Schema.Codec<unknown, unknown>
  )
  const [found, encoded]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    for (const q of searches) {
      const start = performance.now()
      const answer = search.forTokens({ q, limit: 20 }, nowhere)
      const middle = performance.now()
      JSON.stringify(encode(answer))
      if (round < rounds / 3) continue
      found.push(middle - start)
      encoded.push(performance.now() - start)
    }
  }
  const line = (name: string, millis: ReadonlyArray<number>) =>
    `  ${name.padEnd(44)} p50 ${percentile(millis, 50).toFixed(3)} ms   p99 ${percentile(millis, 99).toFixed(3)} ms`
  return [
    "",
    `In process, ${snapshot.ranked.length.toLocaleString("en-US")} tokens, ${found.length} searches`,
    line("search", found),
    line("search and its answer as JSON", encoded)
  ].join("\n")
})

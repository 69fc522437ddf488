/**
 * The token lists that the catalogue is read from, in the token-list format: `/lists/uniswap.json` and
 * `/lists/ondo.json`.
 */
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { content } from "#layers/catalogue/content.ts"
import { uniswapSolana } from "#layers/catalogue/refresh/listTokens.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const problem = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ message }, { status })
const answers = { error: problem(500, "Internal Server Error"), rateLimited: problem(429, "Too Many Requests") }

const names = new Map(content.assets.map(({ assetCanonicalId, name }) => [assetCanonicalId, name]))

const tokensOf = (issuers: ReadonlySet<string | null>) =>
  content.representations
    .filter(({ issuer }) => issuers.has(issuer))
    .map(({ assetCanonicalId, caipAssetId, decimals, symbol }) => {
      const { address, chainId } = keyPartsOf(caipAssetId)
      return {
        chainId: chainId === solanaChainId ? uniswapSolana : chainId,
        address,
        name: names.get(assetCanonicalId)!,
        symbol,
        decimals
      }
    })

const lists = {
  uniswap: tokensOf(new Set([null, "paxos", "tether", "robinhood"])),
  // The issuer's own list leaves out Solana.
  ondo: tokensOf(new Set(["ondo"])).filter(({ chainId }) => chainId !== uniswapSolana)
}

export const catalogueLists = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock
    for (const [name, tokens] of Object.entries(lists)) {
      const answer = Effect.map(clock.read, ({ now }) =>
        HttpServerResponse.jsonUnsafe({
          name,
          timestamp: DateTime.formatIso(DateTime.makeUnsafe(now)),
          version: { major: 1, minor: 0, patch: 0 },
          tokens
        })
      )
      yield* router.add(
        "GET",
        `/lists/${name}.json`,
        Effect.flatMap(faults.take("issuers"), (mode) => withFaults(mode, answers, answer))
      )
    }
  })
)

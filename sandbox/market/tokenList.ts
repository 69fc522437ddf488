/**
 * The world's tokens in the Uniswap token-list format (tokenlists.org).
 */
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { solanaChainId } from "#domain/values/Caip.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { splCatalog } from "#sandbox/assets/splCatalog.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const tags = {
  stablecoin: { name: "Stablecoin", description: "Tokens that follow the value of a currency" },
  ethereum: { name: "Ether", description: "Ether and tokens that stand for it" },
  bitcoin: { name: "Bitcoin", description: "Tokens that stand for bitcoin" },
  defi: { name: "DeFi", description: "Tokens of decentralised finance protocols" },
  governance: { name: "Governance", description: "Tokens that vote on a protocol or chain" }
}

const evmTokens = catalog.flatMap((chain) =>
  chain.tokens.map(({ chainId, address, symbol, name, decimals, tags }) => ({
    chainId,
    address,
    symbol,
    name,
    decimals,
    tags
  }))
)

const solanaTokens = splCatalog.map(({ decimals, mint, name, symbol }) => ({
  chainId: solanaChainId,
  address: mint.toBase58(),
  symbol,
  name,
  decimals,
  tags: []
}))

const tokens = [...evmTokens, ...solanaTokens]

/** `GET /tokenlist.json` */
export const tokenList = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const clock = yield* WorldClock
    yield* router.add(
      "GET",
      "/tokenlist.json",
      Effect.map(clock.read, ({ now }) =>
        HttpServerResponse.jsonUnsafe({
          name: "Ballast sandbox",
          timestamp: DateTime.formatIso(DateTime.makeUnsafe(now)),
          version: { major: 1, minor: 0, patch: 0 },
          keywords: ["sandbox"],
          tags,
          tokens
        })
      )
    )
  })
)

/** What is asked: paths of the interface's wire, which the peer serves as well. */
const path = (procedure: string, input: object) =>
  `/v1/rpc/${procedure}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`

export const tokenCount = 20_000
export const coinCount = 1_000

/** Whole and partial names, common and rare texts, and some that nothing has. */
const texts = [
  ...Array.from({ length: 40 }, (_, n) => `s${n * 247}`),
  ...Array.from({ length: 30 }, (_, n) => `company ${n * 331}`),
  "comp",
  "any",
  "s1",
  "on",
  "99",
  "e",
  "a",
  "zz",
  "no such thing",
  "%",
  "_x"
]

export const searches = texts
export const requests = () => [
  { name: "search", paths: texts.map((q) => path("assets.searchForTokens", { q })) },
  {
    name: "browse",
    paths: Array.from({ length: 40 }, (_, n) =>
      path("assets.browseAssets", { exposureSlug: `sector-${n % 10}`, cursor: (n % 8) * 24, limit: 24 })
    )
  },
  {
    name: "quotes",
    paths: Array.from({ length: 20 }, (_, n) =>
      path("cryptoMarketData.getMarketQuotes", {
        coinIds: Array.from({ length: 25 }, (_, position) => `coin-${(n * 41 + position * 7) % coinCount}`)
      })
    )
  }
]

/** What the tests of `assets.*` share. */
import { content } from "#layers/catalogue/content.ts"

export const appleOnRobinhood = "0xaF3D76f1834A1d425780943C99Ea8A608f8a93f9:4663"
export const usdcOnBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:8453"
export const figure = /^[0-9]+(\.[0-9]{1,18})?$/u

const shares = new Set(
  content.assets.filter(({ kind }) => kind === "equity" || kind === "etf").map((asset) => asset.assetCanonicalId)
)
/** Tokens of issuers on shares and funds. */
export const tokenized = content.representations.filter(
  ({ assetCanonicalId, issuer }) => issuer !== null && shares.has(assetCanonicalId)
)

export const idsOf = (rows: ReadonlyArray<{ readonly assetId: string }>) => rows.map(({ assetId }) => assetId)

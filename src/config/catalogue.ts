/** Where the sources of the checked-in catalogue are. */
import type { CatalogueAccess } from "#layers/catalogue/refresh/CatalogueSourcesLive.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, type Setting } from "#src/config/Setting.ts"

const list = Kind.text("the URL or the path of a token list", "https://tokens.uniswap.org")

export const catalogueAccess: Setting<CatalogueAccess> = all({
  uniswapList: optional("UNISWAP_TOKEN_LIST", list),
  ondoList: optional("ONDO_TOKEN_LIST", list),
  coinbaseUrl: optional("COINBASE_URL", Kind.httpUrl("https://api.coinbase.com")),
  xStocksUrl: optional("XSTOCKS_URL", Kind.httpUrl("https://api.xstocks.fi/api/v2"))
})

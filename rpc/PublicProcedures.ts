/** All procedures that anybody may call, as one group: what both wires serve and what clients are made of. */
import { AssetProcedures } from "#rpc/Assets.ts"
import { CryptoMarketDataProcedures } from "#rpc/CryptoMarketData.ts"

export const PublicProcedures = CryptoMarketDataProcedures.merge(AssetProcedures)

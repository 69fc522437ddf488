/** Contract: where the deployment trades. An extension of the interface. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { AssetIdText, prose, written } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"

const Chain = Schema.Struct({
  chainId: Schema.Int.annotate({ description: "EIP-155 id of the chain; 1399811149 is Solana.", examples: [8453] }),
  name: prose("What people call it.", 64, "Base"),
  status: Schema.Literals(["available", "unavailable"]).annotate({
    description:
      "`unavailable`: none of the service's endpoints of the chain answers. Runs wait, and go on when one does.",
    examples: ["available"]
  }),
  confirmations: Schema.Int.annotate({
    description:
      "Blocks that must include a transaction, its own and later ones, before it counts and balances show. On Solana 1: what two thirds of the validators voted for.",
    examples: [10]
  }),
  usdcAssetId: Schema.NullOr(AssetIdText).annotate({
    description:
      "The USDC that its issuer maintains on the chain, into which liquidations sell; null where there is none.",
    examples: ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
  }),
  explorerUrl: Schema.NullOr(
    written("An address on the web.", /^https:\/\/[!-~]{1,200}$/u, "https://basescan.org")
  ).annotate({
    description: "A block explorer: transactions are under `/tx/`, accounts under `/address/`.",
    examples: ["https://basescan.org"]
  })
}).annotate({ identifier: "Chain", description: "A chain that the service trades on." })

const list = HttpApiEndpoint.get("listChains", "/chains", {
  success: ok(
    Schema.Struct({ chains: Schema.Array(Chain).annotate({ description: "Every chain that is supported." }) })
  )
}).annotateMerge(
  operation({
    id: "listChains",
    summary: "List chains",
    description:
      "The chains that this deployment serves, and whether they answer. Strategies and enrollments name no other.",
    tier: "general"
  })
)

export const Chains = HttpApiGroup.make("chains")
  .annotate(OpenApi.Title, "Chains")
  .annotate(OpenApi.Description, "Where the service trades.")
  .add(list)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

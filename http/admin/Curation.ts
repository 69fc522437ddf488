/** Contract: the operator's selection for the `curated` collection of discovery, in the v1 envelope. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { maxSelected } from "#domain/discovery/Curation.ts"
import { StrategyId } from "#domain/values/Ids.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"

/** Strategies in editorial order. */
const Selection = Schema.Struct({ strategyIds: Schema.Array(Schema.String) })

export const Curation = HttpApiGroup.make("curation")
  .add(
    HttpApiEndpoint.get("getCurated", "/discovery/curated", { success: okV1(Selection) }),
    HttpApiEndpoint.put("setCurated", "/discovery/curated", {
      payload: Schema.Struct({ strategyIds: Schema.Array(StrategyId).check(Schema.isMaxLength(maxSelected)) }),
      success: okV1(Selection)
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .middleware(AdminAudit)
  .prefix("/v1/admin")

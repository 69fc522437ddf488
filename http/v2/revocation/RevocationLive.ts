import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import { Revocations } from "#domain/revocation/Revocations.ts"
import type { RevocationFlow } from "#domain/revocation/RevocationStore.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { smartAccountView } from "#http/portfolio/portfolioView.ts"

const issuedView = ({ expiresAt, flowId, revocation }: RevocationFlow) => ({
  message: ownerMessage(revocation),
  accountType: revocation.accountType,
  flowId,
  smartAccounts: revocation.chains.map(({ accountId }) => smartAccountView(accountId)),
  expiresAt: DateTime.formatIso(expiresAt)
})

export const RevocationLive = HttpApiBuilder.group(
  V2,
  "revocation",
  Effect.fnUntraced(function* (handlers) {
    const revocations = yield* Revocations

    return handlers.handleAll({
      prepareRevocation: ({ params, payload }) =>
        Effect.map(revocations.authorize(params.portfolioId, payload.chainIds), (flow) => success(issuedView(flow))),
      revoke: ({ params, payload }) =>
        Effect.map(revocations.revoke({ ...params, ...payload }), ({ operationId, submittedAt }) =>
          success({ operationId, submittedAt: DateTime.formatIso(submittedAt) })
        )
    })
  })
).pipe(buildGroup(Revocations))

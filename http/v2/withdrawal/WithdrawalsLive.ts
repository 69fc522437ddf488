import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { acceptedView, authorizationView } from "#http/v2/withdrawal/withdrawalView.ts"

export const WithdrawalsLive = HttpApiBuilder.group(
  V2,
  "withdrawals",
  Effect.fnUntraced(function* (handlers) {
    const authorizations = yield* WithdrawalAuthorizations
    const withdrawals = yield* Withdrawals

    return handlers.handleAll({
      prepareWithdrawal: ({ params, payload: { assets, liquidate = false, recipientAccountId, settlementAssetId } }) =>
        Effect.map(
          authorizations.authorize(params.portfolioId, {
            recipientAccountId,
            assets,
            liquidate,
            settlementAssetId: settlementAssetId ?? null
          }),
          (issued) => success(authorizationView(issued))
        ),
      withdraw: ({ params, payload }) =>
        Effect.map(withdrawals.submit(params.portfolioId, payload), (accepted) => success(acceptedView(accepted))),
      prepareLiquidation: ({ params, payload }) =>
        Effect.map(authorizations.authorizeAll(params.portfolioId, payload.recipientAccountId), (issued) =>
          success(authorizationView(issued))
        ),
      liquidateAll: ({ params, payload }) =>
        Effect.map(withdrawals.submit(params.portfolioId, payload, { requireLiquidate: true }), (accepted) =>
          success(acceptedView(accepted))
        )
    })
  })
).pipe(buildGroup(WithdrawalAuthorizations, Withdrawals))

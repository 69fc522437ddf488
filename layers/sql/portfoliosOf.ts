/**
 * The portfolios that a wallet owns, in whatever tenant. A contract owner is the wallet of the one chain on which it
 * signed; a key is one wallet on all chains.
 */
import type { SqlClient } from "effect/sql"
import { addressOf, evmWallet } from "#domain/values/Caip.ts"
import type { SignInWalletId } from "#domain/identity/User.ts"

export const portfoliosOf = (sql: SqlClient.SqlClient, walletId: SignInWalletId) => sql`
  SELECT p.portfolio_id FROM portfolios p
  CROSS JOIN LATERAL (
    SELECT authorization_document AS document FROM grants WHERE portfolio_id = p.portfolio_id ORDER BY sequence LIMIT 1
  ) signed
  WHERE p.owner_account_id = ${evmWallet(addressOf(walletId))}
    AND CASE WHEN signed.document ->> 'accountType' = 'ERC1271'
      THEN concat('eip155:', signed.document -> 'chains' -> 0 ->> 'chainId', ':',
        split_part(p.owner_account_id, ':', 3))
      ELSE p.owner_account_id END = ${walletId}`

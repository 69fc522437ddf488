/** What relayers submit to chains, and what it cost. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE relayer_nonces (
      chain_id bigint NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      next bigint NOT NULL,
      held_by text COLLATE "C",
      held_until timestamptz(3),
      PRIMARY KEY (chain_id, relayer)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE relayer_nonces IS 'Next nonce of each relayer, and who signs with it.';
      COMMENT ON COLUMN relayer_nonces.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN relayer_nonces.relayer IS 'Address of the relayer.';
      COMMENT ON COLUMN relayer_nonces.next IS 'Nonce that is not used yet.';
      COMMENT ON COLUMN relayer_nonces.held_by IS 'Process that signs. Null: none.';
      COMMENT ON COLUMN relayer_nonces.held_until IS 'Until when others wait for it.';
    END $$`

  yield* sql`
    CREATE TABLE relayed_transactions (
      chain_id bigint NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      nonce bigint NOT NULL,
      action_count integer NOT NULL,
      tx_hash text NOT NULL,
      raw text NOT NULL,
      fee_ceiling numeric(78, 0),
      held_since timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (chain_id, relayer, nonce)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE relayed_transactions IS
        'Transactions of relayers, by the nonce that they use. None is stored twice.';
      COMMENT ON COLUMN relayed_transactions.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN relayed_transactions.relayer IS 'Address of the relayer.';
      COMMENT ON COLUMN relayed_transactions.nonce IS 'Nonce of the relayer.';
      COMMENT ON COLUMN relayed_transactions.action_count IS 'How many actions it includes.';
      COMMENT ON COLUMN relayed_transactions.tx_hash IS 'Hash of the transaction.';
      COMMENT ON COLUMN relayed_transactions.raw IS 'Signed bytes, hex.';
      COMMENT ON COLUMN relayed_transactions.fee_ceiling IS
        'Wei that it may offer for a unit of gas at most, however often it is replaced. Null: what owners sign has none.';
      COMMENT ON COLUMN relayed_transactions.held_since IS
        'Time since which the market asks more than the ceiling. Null: it does not.';
      COMMENT ON COLUMN relayed_transactions.created_at IS 'When the row was made.';
    END $$`

  yield* sql`
    CREATE TABLE relayed_actions (
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      action_hash text NOT NULL,
      relayer text COLLATE "C",
      nonce bigint,
      found_from numeric(78, 0) NOT NULL,
      status text NOT NULL CHECK (status IN ('signed', 'succeeded', 'reverted')),
      receipt jsonb,
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      PRIMARY KEY (operation_id, chain_id, attempt),
      FOREIGN KEY (chain_id, relayer, nonce) REFERENCES relayed_transactions,
      CONSTRAINT relayed_actions_nonce CHECK ((relayer IS NULL) = (nonce IS NULL))
    )`
  yield* sql`
    CREATE INDEX relayed_actions_settled ON relayed_actions (account_id, ((receipt ->> 'blockNumber')::numeric))
    WHERE status = 'succeeded'`
  yield* sql`CREATE INDEX relayed_actions_signed ON relayed_actions (account_id) WHERE status = 'signed'`
  yield* sql`CREATE INDEX relayed_actions_nonce ON relayed_actions (chain_id, relayer, nonce)`
  yield* sql`
    CREATE INDEX relayed_actions_unsettled ON relayed_actions (chain_id, relayer, nonce) WHERE status = 'signed'`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE relayed_actions IS 'Actions of accounts that were signed, and what became of each.';
      COMMENT ON COLUMN relayed_actions.operation_id IS 'Operation.';
      COMMENT ON COLUMN relayed_actions.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN relayed_actions.attempt IS 'Number of the try of the operation on the chain, from 1.';
      COMMENT ON COLUMN relayed_actions.account_id IS 'Account that acts, CAIP-10.';
      COMMENT ON COLUMN relayed_actions.action_hash IS
        'Hash that names the action: of the user operation, of the withdrawal, or of the parts.';
      COMMENT ON COLUMN relayed_actions.relayer IS
        'Address of the relayer. Null: its parts are transactions of their own.';
      COMMENT ON COLUMN relayed_actions.nonce IS
        'Nonce of the transaction that includes it. Null: its parts are transactions of their own.';
      COMMENT ON COLUMN relayed_actions.found_from IS
        'Block, or slot on Solana, from which on the action may be found.';
      COMMENT ON COLUMN relayed_actions.status IS 'What became of it.';
      COMMENT ON COLUMN relayed_actions.receipt IS 'Receipt of the action. Null: not landed yet.';
      COMMENT ON COLUMN relayed_actions.created_at IS 'When the row was made.';
      COMMENT ON COLUMN relayed_actions.updated_at IS 'When its status last changed.';
    END $$`

  yield* sql`
    CREATE TABLE relayed_replacements (
      chain_id bigint NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      nonce bigint NOT NULL,
      replacement integer NOT NULL,
      tx_hash text NOT NULL,
      raw text NOT NULL,
      cancels boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (chain_id, relayer, nonce, replacement),
      FOREIGN KEY (chain_id, relayer, nonce) REFERENCES relayed_transactions
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE relayed_replacements IS
        'Transactions that took the place of one with the same nonce by offering more. Any of them may land.';
      COMMENT ON COLUMN relayed_replacements.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN relayed_replacements.relayer IS 'Address of the relayer.';
      COMMENT ON COLUMN relayed_replacements.nonce IS 'Nonce of the relayer.';
      COMMENT ON COLUMN relayed_replacements.replacement IS 'Number of the replacement, from 1.';
      COMMENT ON COLUMN relayed_replacements.tx_hash IS 'Hash of the transaction.';
      COMMENT ON COLUMN relayed_replacements.raw IS 'Signed bytes, hex.';
      COMMENT ON COLUMN relayed_replacements.cancels IS
        'True: it includes nothing, and takes the nonce back.';
      COMMENT ON COLUMN relayed_replacements.created_at IS 'When the row was made.';
    END $$`

  yield* sql`
    CREATE TABLE relayed_parts (
      operation_id text COLLATE "C" NOT NULL,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      part integer NOT NULL CHECK (part >= 0),
      number integer NOT NULL CHECK (number >= 1),
      tx_hash text NOT NULL UNIQUE,
      payload text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (operation_id, chain_id, attempt, part, number),
      FOREIGN KEY (operation_id, chain_id, attempt) REFERENCES relayed_actions
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE relayed_parts IS
        'Transactions of actions whose parts are transactions of their own, written before they are sent.';
      COMMENT ON COLUMN relayed_parts.operation_id IS 'Operation.';
      COMMENT ON COLUMN relayed_parts.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN relayed_parts.attempt IS 'Attempt of the action.';
      COMMENT ON COLUMN relayed_parts.part IS 'Part of the action, the first is 0.';
      COMMENT ON COLUMN relayed_parts.number IS 'Number of the transaction for the part, from 1.';
      COMMENT ON COLUMN relayed_parts.tx_hash IS 'First signature of the transaction, base58.';
      COMMENT ON COLUMN relayed_parts.payload IS 'What is needed to send it again and to judge it.';
      COMMENT ON COLUMN relayed_parts.created_at IS 'When the row was made.';
    END $$`

  yield* sql`
    CREATE TABLE gas_spent (
      tenant_id text COLLATE "C" NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL,
      day date NOT NULL,
      gas numeric(78, 0) NOT NULL,
      owner_gas numeric(78, 0) NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant_id, day, portfolio_id)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE gas_spent IS 'Gas that the service paid for by UTC day: a row a portfolio, and one a tenant.';
      COMMENT ON COLUMN gas_spent.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN gas_spent.portfolio_id IS 'Portfolio. Empty: all of the tenant.';
      COMMENT ON COLUMN gas_spent.day IS 'UTC day.';
      COMMENT ON COLUMN gas_spent.gas IS 'Units of gas for what the agent did.';
      COMMENT ON COLUMN gas_spent.owner_gas IS 'Units of gas for what owners signed.';
    END $$`
})

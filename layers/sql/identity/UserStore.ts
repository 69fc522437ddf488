/** Users and their memberships in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { type Member, Role, type User, SignInWalletId } from "#domain/identity/User.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { TenantId, UserId } from "#domain/values/Ids.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

export const MemberRow = Schema.Struct({
  userId: UserId,
  walletId: SignInWalletId,
  createdAt: Timestamp,
  tenantId: TenantId,
  role: Role,
  joinedAt: Timestamp
})

/** Columns of `users u JOIN tenant_members m`. */
export const memberColumns = `u.user_id AS "userId", u.wallet_id AS "walletId", u.created_at AS "createdAt",
  m.tenant_id AS "tenantId", m.role, m.joined_at AS "joinedAt"`

/** That a user is a member of a tenant. */
type Membership = Omit<Member, "walletId" | "createdAt">

const first = decodeFirst(MemberRow)
const all = decodeRows(MemberRow)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tenants = yield* TenantStore
  const select = sql.literal(`SELECT ${memberColumns} FROM users u JOIN tenant_members m ON m.user_id = u.user_id`)

  /** The id of the wallet's user. A concurrent insert is waited for, so that only one is made. */
  const userOf = Effect.fnUntraced(function* ({ createdAt, userId, walletId }: User) {
    const [row] = yield* sql<{ readonly user_id: UserId }>`
      INSERT INTO users (user_id, wallet_id, created_at) VALUES (${userId}, ${walletId}, ${timestamp(createdAt)})
      ON CONFLICT (wallet_id) DO UPDATE SET wallet_id = excluded.wallet_id RETURNING user_id`
    return row!.user_id
  })

  const insertMember = ({ joinedAt, role, tenantId, userId }: Membership) =>
    sql`INSERT INTO tenant_members (tenant_id, user_id, role, joined_at)
      VALUES (${tenantId}, ${userId}, ${role}, ${timestamp(joinedAt)})
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role`

  /**
   * Locks the tenant, so that two owners who leave at the same time do not leave none. True when another owner stays.
   */
  const hasOtherOwner = Effect.fnUntraced(function* (tenantId: TenantId, userId: UserId) {
    yield* sql`SELECT 1 FROM tenants WHERE tenant_id = ${tenantId} FOR UPDATE`
    const others = yield* sql`
      SELECT 1 FROM tenant_members WHERE tenant_id = ${tenantId} AND user_id <> ${userId} AND role = 'owner' LIMIT 1`
    return others.length > 0
  })

  const enter = Effect.fn("UserStore.enter")(
    function* (user: User, tenant: Tenant) {
      const userId = yield* userOf(user)
      const memberships = all(sql`${select} WHERE u.user_id = ${userId} ORDER BY m.joined_at, m.tenant_id`)
      const before = yield* memberships
      if (before.length === 0) {
        yield* tenants.insertTenant(tenant)
        yield* insertMember({ tenantId: tenant.tenantId, userId, role: "owner", joinedAt: tenant.createdAt })
      }
      const [oldest, ...others] = before.length === 0 ? yield* memberships : before
      return [oldest!, ...others] as const
    },
    sql.withTransaction,
    Effect.orDie
  )

  const findMember = Effect.fn("UserStore.findMember")((tenantId: TenantId, userId: UserId) =>
    first(sql`${select} WHERE m.tenant_id = ${tenantId} AND m.user_id = ${userId}`)
  )

  const listMembers = Effect.fn("UserStore.listMembers")((tenantId: TenantId) =>
    all(sql`${select} WHERE m.tenant_id = ${tenantId} ORDER BY m.joined_at, m.user_id`)
  )

  const setMember = Effect.fn("UserStore.setMember")(
    function* (member: Member) {
      const { role, tenantId } = member
      const userId = yield* userOf(member)
      const isLeft = yield* hasOtherOwner(tenantId, userId)
      if (!isLeft && role !== "owner") return Option.none<Member>()
      yield* insertMember({ ...member, userId })
      return yield* findMember(tenantId, userId)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const removeMember = Effect.fn("UserStore.removeMember")(
    function* (tenantId: TenantId, userId: UserId) {
      if (!(yield* hasOtherOwner(tenantId, userId))) return false
      const removed = yield* sql`
        DELETE FROM tenant_members WHERE tenant_id = ${tenantId} AND user_id = ${userId} RETURNING 1`
      return removed.length > 0
    },
    sql.withTransaction,
    Effect.orDie
  )

  return UserStore.of({ enter, findMember, listMembers, setMember, removeMember })
})

export const layer = Layer.effect(UserStore, make)

/** The part of pg 8 that the peer uses; the package brings no types. */
declare module "pg" {
  export interface PoolConfig {
    readonly connectionString: string
    readonly max: number
  }
  export interface QueryConfig {
    /** Names the statement, so that each connection prepares it once. */
    readonly name: string
    readonly text: string
    readonly values: ReadonlyArray<unknown>
  }
  export class Pool {
    constructor(config: PoolConfig)
    query<Row>(query: QueryConfig): Promise<{ readonly rows: ReadonlyArray<Row> }>
  }
}

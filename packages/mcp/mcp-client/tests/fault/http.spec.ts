import { describeFaults } from './table.ts'

describeFaults('http')

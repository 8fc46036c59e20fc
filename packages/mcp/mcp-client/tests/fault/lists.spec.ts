import { describeFaults } from './table.ts'

describeFaults('lists')

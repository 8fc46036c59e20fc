import { describeFaults } from './table.ts'

describeFaults('framing')

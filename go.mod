module github.com/budgetplan/budgetplan

go 1.26
